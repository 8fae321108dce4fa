/** Bases are multiples of this, so that people can tell base and Kafka offset apart. */
const step = 1_000_000_000;

/**
 * Returns a base above every offset ever assigned. `highest` is the highest known offset (-1: none). The base is at
 * least a billion higher, because publishes during an outage of the store may have received offsets that were never
 * stored. Offsets may have gaps, and 2^53 leaves enough room.
 */
export function baseAbove(highest: number): number {
  return (Math.floor(highest / step) + 2) * step;
}
