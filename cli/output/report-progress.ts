/** Counted things between two lines of progress. */
const reportEvery = 100_000;

/** Writes to standard error: standard output is for results. */
export function reportProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Returns a function that takes a growing count and reports it every 100,000 of `what`. */
export function progressOf(what: string): (count: number) => void {
  let reported = 0;
  return (count) => {
    if (count - reported < reportEvery) return;
    reported = count;
    reportProgress(`${count} ${what}`);
  };
}
