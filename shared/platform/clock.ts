/** Returns milliseconds since the epoch. Injected, so that tests can set the time. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Machines whose clocks differ by more than this disagree on which messages have expired. */
export const clockDifferenceMsMax = 60_000;

/**
 * Returns how many milliseconds a remote clock, read between two local readings, is ahead (negative: behind); 0 if the
 * readings do not prove a difference.
 */
export function clockDifferenceMs(remote: number, [before, after]: readonly [number, number]): number {
  return remote < before ? remote - before : Math.max(0, remote - after);
}
