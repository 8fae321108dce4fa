/** Bases lie this far apart, so that a position shows at a glance which part of it the log's own offset is. */
const step = 1_000_000_000;

/**
 * A base above every position that was ever handed out, `highest` being the highest that is known of (-1: none). At least a
 * billion above it: positions may have been handed out that nobody recorded, by publishes while the store was away. Positions
 * have holes, and 2^53 is far.
 */
export function baseAbove(highest: number): number {
  return (Math.floor(highest / step) + 2) * step;
}
