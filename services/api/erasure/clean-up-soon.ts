import { cleanUpTopicJobs, retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import { lateWritesMsOf, type TopicCleanup } from '@tocsin/shared/collections/topic-cleanups.ts';
import type { ApiDeps } from '../api-deps.ts';

/**
 * Enqueues the stored cleanups of topic changes: immediately, and again after concurrent writes have finished if a
 * cleanup needs it. If the queue is unavailable, the next sweep runs them.
 */
export async function cleanUpSoon(
  deps: Pick<ApiDeps, 'config' | 'engine' | 'log' | 'makeId'>,
  cleanups: readonly Pick<TopicCleanup, 'topicId' | 'kind'>[],
): Promise<void> {
  if (cleanups.length === 0) return;
  const jobs = cleanUpTopicJobs(cleanups, { makeId: deps.makeId, lateWritesMs: lateWritesMsOf(deps.config) });
  try {
    await deps.engine.jobQueue.add(retentionQueue, jobs);
  } catch (error) {
    deps.log.warn({ err: error, cleanups }, 'could not enqueue cleanups, leaving them to the next sweep');
  }
}
