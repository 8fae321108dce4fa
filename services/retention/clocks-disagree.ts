import type { RetentionDeps } from './retention-deps.ts';

/** Harm prevented: a clock that was set wrongly removing what has not expired. */
const clockDifferenceMsMax = 60_000;

/**
 * Whether this process's clock and the store's differ by more than a minute: then nothing may be removed by it, and the log
 * says so. Never, where the store has no clock of its own.
 */
export async function clocksDisagree({ storeTime, clock, log, metrics }: Pick<RetentionDeps, 'storeTime' | 'clock' | 'log' | 'metrics'>): Promise<boolean> {
  const askedAt = clock();
  const time = await storeTime();
  if (time === null) return false;
  // Between the two looks at the clock: an answer that took long makes no difference.
  const differenceMs = time < askedAt ? time - askedAt : Math.max(0, time - clock());
  metrics.clockDifference.set(differenceMs / 1_000);
  if (Math.abs(differenceMs) <= clockDifferenceMsMax) return false;
  log.error({ differenceMs, clock: new Date(clock()).toISOString(), storeTime: new Date(time).toISOString() },
    'nothing is swept: the clocks of this process and of the store differ by more than a minute; set them right');
  return true;
}
