/** Positions for each millisecond of time: more than a log can ever have given out in it. */
const positionsPerMs = 1_000;

/**
 * The position at which the log of a restored store goes on: the present time in microseconds. It lies above every position that
 * was given out up to now, by the store's original, after the backup, or by an earlier restore of the same backup. `highest` is the
 * highest one that the store knows of. Whole numbers below 2^53 suffice for that until the year 2255.
 */
export function baseAfterRestore(highest: number, now: number): number {
  return Math.max(highest + 1, now * positionsPerMs);
}
