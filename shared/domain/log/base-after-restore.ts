/** Offsets per millisecond; more than a log can assign. */
const positionsPerMs = 1_000;

/**
 * Returns the offset at which the log of a restored store continues: the current time in microseconds. It is above
 * every offset assigned so far, by the original store after the backup or by an earlier restore of the same backup.
 * `highest` is the highest offset in the store. Integers below 2^53 suffice until the year 2255.
 */
export function baseAfterRestore(highest: number, now: number): number {
  return Math.max(highest + 1, now * positionsPerMs);
}
