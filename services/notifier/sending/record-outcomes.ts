import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { Claim, Outcome } from '@tocsin/shared/ports/deliveries.ts';
import type { PushDeps } from './push-deps.ts';

/** Pauses between attempts: an unrecorded outcome causes a duplicate push. */
const pausesMs = [200, 1_000, 3_000, 5_000];

/** Rows per write. */
const batchSize = 1_000;

/** Writes outcomes to the ledger. Waits some seconds for an unavailable store, then throws `unavailable`. */
export async function recordOutcomes(
  deps: Pick<PushDeps, 'engine' | 'clock' | 'metrics'>,
  outcomes: readonly Outcome[],
): Promise<void> {
  await storeOutcomes(deps, outcomes);
  for (const [platform, ofPlatform] of Map.groupBy(outcomes, (outcome) => outcome.platform)) {
    for (const [status, same] of Map.groupBy(ofPlatform, (outcome) => outcome.status))
      deps.metrics.outcomes.inc({ platform, status }, same.length);
  }
}

/** As above, without counting them as pushes. */
export async function storeOutcomes(
  deps: Pick<PushDeps, 'engine' | 'clock'>,
  outcomes: readonly Outcome[],
): Promise<void> {
  for (let start = 0; start < outcomes.length; start += batchSize)
    await recordBatch(deps, outcomes.slice(start, start + batchSize));
}

async function recordBatch(deps: Pick<PushDeps, 'engine' | 'clock'>, outcomes: readonly Outcome[]): Promise<void> {
  for (const pauseMs of [...pausesMs, null]) {
    try {
      return await deps.engine.deliveries.record(outcomes, deps.clock());
    } catch (error) {
      const isAway = isUnavailable(error);
      if (!isAway || pauseMs === null) throw error;
      await pause(pauseMs);
    }
  }
}

/** The outcome of a push that is not sent: `failed` if its message expired, `skipped` for any other reason. */
export function unsentOutcome(claim: Claim, reason: string): Outcome {
  return { ...claim, status: reason === 'message expired' ? 'failed' : 'skipped', reason };
}
