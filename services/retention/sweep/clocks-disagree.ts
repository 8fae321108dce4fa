import { clockDifferenceMs, clockDifferenceMsMax } from '@tocsin/shared/platform/clock.ts';
import type { RetentionDeps } from './retention-deps.ts';

/**
 * Whether this process's clock and the store's differ by more than a minute: then no sweep may run in it, and the log says so.
 * Cleanups behind what somebody deleted are no sweeps, and go on. Never, where the store has no clock of its own. Harm prevented: a clock that was set wrongly removing what has not
 * expired.
 */
export async function clocksDisagree({
  storeTime,
  clock,
  log,
  metrics,
}: Pick<RetentionDeps, 'storeTime' | 'clock' | 'log' | 'metrics'>): Promise<boolean> {
  const askedAt = clock();
  const time = await storeTime();
  if (time === null) return false;
  const differenceMs = clockDifferenceMs(time, [askedAt, clock()]);
  metrics.clockDifference.set(differenceMs / 1_000);
  if (Math.abs(differenceMs) <= clockDifferenceMsMax) return false;
  log.error(
    { differenceMs, clock: new Date(clock()).toISOString(), storeTime: new Date(time).toISOString() },
    'nothing is swept: the clocks of this process and of the store differ by more than a minute; set them right',
  );
  return true;
}
