import { cleanUpTopicJob, retentionQueue } from '@tocsin/shared/domain/retention-job.ts';
import { settleMs, type TopicCleanup } from '@tocsin/shared/stores/topic-cleanups.ts';
import type { ApiDeps } from './api-deps.ts';

/**
 * Asks for the cleanups that were stored with a change of the topic: at once, and behind a topic that was deleted again
 * when what was under way has settled. While the queue is away they only wait for the next sweep.
 */
export async function cleanUpSoon(deps: ApiDeps, topicId: string, kind: TopicCleanup['kind']): Promise<void> {
  const jobs = [cleanUpTopicJob(deps.makeId(), topicId, 0)];
  if (kind === 'erase') jobs.push(cleanUpTopicJob(deps.makeId(), topicId, settleMs));
  try {
    await deps.engine.jobQueue.add(retentionQueue, jobs);
  } catch (error) {
    deps.log.warn({ err: error, topicId }, 'a cleanup waits for the next sweep: its job could not be added');
  }
}
