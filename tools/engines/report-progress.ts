/** Progress goes to stderr, so that stdout carries only what a script may read. */
export const reportProgress = (line: string): void => {
  process.stderr.write(`${line}\n`);
};
