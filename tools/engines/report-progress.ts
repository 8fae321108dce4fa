/** Progress goes to stderr; stdout is for output that scripts read. */
export const reportProgress = (line: string): void => {
  process.stderr.write(`${line}\n`);
};
