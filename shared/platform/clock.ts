/** Milliseconds since the epoch. Passed in wherever time matters, so that tests can set it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Machines whose clocks differ by more disagree on what has expired. */
export const clockDifferenceMsMax = 60_000;

/** By how many milliseconds another clock is ahead of ours, that was read between two readings of ours; below 0 it is behind, 0 where it may be right. */
export function clockDifferenceMs(theirs: number, [before, after]: readonly [number, number]): number {
  return theirs < before ? theirs - before : Math.max(0, theirs - after);
}
