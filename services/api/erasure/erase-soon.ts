import { eraseAccountJob, retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import { eraseAccount } from '@tocsin/shared/operations/accounts/erase-account.ts';
import { settleMsOf } from '@tocsin/shared/collections/topic-cleanups.ts';
import type { ApiDeps } from '../api-deps.ts';
import { removalDeps } from './removal-deps.ts';

/** Enough for all topics that an account can have, so that their names are free when this is done. */
const batchesMax = 250;

/**
 * Erases what a deleted account left behind, and asks for the rest: at once where there is more, and again when what was
 * under way has settled. What fails here waits for the retention service, since the account is gone already.
 */
export async function eraseSoon(deps: ApiDeps, userId: string): Promise<void> {
  const { deliveries, jobQueue } = deps.engine;
  const settleMs = settleMsOf(deps.config);
  try {
    const { hasMore } = await eraseAccount({ ...removalDeps(deps), deliveries }, userId, {
      now: deps.clock(),
      batchesMax,
      settleMs,
    });
    await jobQueue.add(
      retentionQueue,
      (hasMore ? [0, settleMs] : [settleMs]).map((delayMs) => eraseAccountJob(deps.makeId(), userId, delayMs)),
    );
  } catch (error) {
    deps.log.warn({ err: error, userId }, 'the erasure of a deleted account waits for the next sweep');
  }
}
