import { readFileSync } from 'node:fs';

/** Resident memory of a process in MB. */
export function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

/** Prints the measurements of a test as one line of JSON, rounded to integers. */
export function printMeasurements(test: string, measurements: Record<string, unknown>): void {
  const rounded = Object.entries(measurements).map(([name, value]) => [
    name,
    typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value,
  ]);
  process.stdout.write(`${JSON.stringify({ test, ...Object.fromEntries(rounded) })}\n`);
}

/** Returns the quantile of the values; null without values. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return value === undefined ? null : Math.round(value);
}
