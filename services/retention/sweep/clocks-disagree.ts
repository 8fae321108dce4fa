import { clockDifferenceMs, clockDifferenceMsMax } from '@tocsin/shared/platform/clock.ts';
import type { RetentionDeps } from './retention-deps.ts';

/**
 * Whether the clocks of this process and of the store differ by more than a minute: then no sweep may run, which is
 * logged. Clean-ups after deletions still run. Always false if the store has no clock. Prevents a wrong clock from
 * removing unexpired messages.
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
    'sweeps are off: the clocks of this process and of the store differ by more than a minute, synchronize them',
  );
  return true;
}
