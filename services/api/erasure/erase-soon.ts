import { eraseAccountJob, retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import { eraseAccount } from '@tocsin/shared/operations/accounts/erase-account.ts';
import { lateWritesMsOf } from '@tocsin/shared/collections/topic-cleanups.ts';
import type { ApiDeps } from '../api-deps.ts';
import { removalDeps } from './removal-deps.ts';

/** Enough for all topics of an account, so that their names are available afterwards. */
const batchesMax = 250;

/**
 * Erases the data of a deleted account and enqueues the rest: immediately, and again after concurrent writes have
 * finished. The retention service handles failures, because the account is already deleted.
 */
export async function eraseSoon(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'directory' | 'engine' | 'log' | 'makeId'>,
  userId: string,
): Promise<void> {
  const { deliveries, jobQueue } = deps.engine;
  const lateWritesMs = lateWritesMsOf(deps.config);
  try {
    await eraseAccount({ ...removalDeps(deps), deliveries, messages: null, archive: null }, userId, {
      now: deps.clock(),
      batchesMax,
      lateWritesMs: lateWritesMs,
    });
    await jobQueue.add(
      retentionQueue,
      [0, lateWritesMs].map((delayMs) => eraseAccountJob(deps.makeId(), userId, delayMs)),
    );
  } catch (error) {
    deps.log.warn({ err: error, userId }, 'could not erase a deleted account, leaving it to the next sweep');
  }
}
