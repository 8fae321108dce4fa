/** Writes to standard error: standard output is for results. */
export function reportProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}
