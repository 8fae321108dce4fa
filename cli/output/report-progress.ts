/** Standard output is for what a command is asked for. */
export function reportProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}
