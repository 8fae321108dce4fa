import type { RetentionDeps, SweepLimit } from './retention-deps.ts';

/** Pauses after a batch that began at this `performance.now()`, so that publishes proceed, and counts the pause. */
export async function restAfterBatch(
  deps: Pick<RetentionDeps, 'throttle' | 'metrics'>,
  limit: SweepLimit,
  beganAt: number,
): Promise<void> {
  const restedMs = await deps.throttle.rest(performance.now() - beganAt, limit.closing);
  deps.metrics.restedSeconds.inc(restedMs / 1_000);
}
