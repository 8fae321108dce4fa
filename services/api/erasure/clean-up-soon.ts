import { cleanUpTopicJobs, retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import { settleMsOf, type TopicCleanup } from '@tocsin/shared/collections/topic-cleanups.ts';
import type { ApiDeps } from '../api-deps.ts';

/**
 * Asks for the cleanups that were stored with changes of topics: at once, and behind one that leaves something under way again when
 * what was under way has settled. While the queue is away they only wait for the next sweep.
 */
export async function cleanUpSoon(
  deps: ApiDeps,
  cleanups: readonly Pick<TopicCleanup, 'topicId' | 'kind'>[],
): Promise<void> {
  if (cleanups.length === 0) return;
  const jobs = cleanUpTopicJobs(cleanups, { makeId: deps.makeId, settleMs: settleMsOf(deps.config) });
  try {
    await deps.engine.jobQueue.add(retentionQueue, jobs);
  } catch (error) {
    deps.log.warn({ err: error, cleanups }, 'cleanups wait for the next sweep: their jobs could not be added');
  }
}
