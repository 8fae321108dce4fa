/** Writes to standard error, because scripts read standard output. */
export const reportProgress = (line: string): void => {
  process.stderr.write(`${line}\n`);
};
