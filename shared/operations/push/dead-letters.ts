import { AppError } from '../../domain/errors.ts';
import type { DeadLetter } from '../../domain/push/dead-letter.ts';
import { pushQueues, type PushQueue } from '../../domain/push/push-job.ts';
import type { Documents } from '../../ports/documents.ts';
import type { FailedJob, JobQueue } from '../../ports/job-queue.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { findTopicByName, topics } from '../../collections/topics.ts';

/** Jobs per page. */
const pageSize = 500;
/** The number of failed jobs that a queue keeps. */
const lettersMax = 10_000;
/** Jobs retried concurrently. */
const concurrentRedrives = 16;

/** The dependencies of dead letters. */
export interface DeadLetterStore {
  readonly documents: Documents;
  readonly jobQueue: Pick<JobQueue, 'failed' | 'retryFailed'>;
}

/** The selection: one topic, one message, or all. */
export interface DeadLetterFilter {
  /** The topic's name, case-insensitive. */
  readonly topic?: string | undefined;
  readonly messageId?: string | undefined;
}

/**
 * Returns at most `limit` (up to 1,000) dead letters, newest first: failed jobs of the push queues, which keep them
 * for 30 days. Throws `not_found` `Topic not found`, and `unavailable` while the queue is down.
 */
export async function listDeadLetters(
  store: DeadLetterStore,
  filter: DeadLetterFilter,
  limit: number,
): Promise<DeadLetter[]> {
  const { isSelected } = await selectLetters(store.documents, filter);
  const found = await Promise.all(queues.map((queue) => findLetters(store, queue, { isSelected, limit })));
  const newest = found
    .flat()
    .sort((a, b) => b.failedAt - a.failedAt)
    .slice(0, limit);
  const named = await store.documents.getMany(topics, [...new Set(newest.map(({ topicId }) => topicId))]);
  const names = new Map(named.map(({ id, name }) => [id, name]));
  return newest.map((letter) => ({ ...letter, topic: names.get(letter.topicId) ?? null }));
}

/**
 * Records the request, then enqueues dead letters again. Pushes that are still neither sent nor skipped are retried for
 * the full retry period. Resolves with the number of letters that it enqueued, without those that another caller
 * enqueued concurrently. Throws like `listDeadLetters`.
 */
export async function redriveDeadLetters(
  store: DeadLetterStore,
  filter: DeadLetterFilter,
  audit: Audit,
): Promise<number> {
  const { topic, isSelected } = await selectLetters(store.documents, filter);
  await store.documents.commit(
    audit({ action: 'push.redriven', subject: topic ?? null, details: { message_id: filter.messageId ?? null } }),
  );
  let redriven = 0;
  for (const queue of queues) {
    // Collect all letters first, because retried ones disappear from the list.
    const remaining = await findLetters(store, queue, { isSelected, limit: lettersMax });
    const redriveAll = async (): Promise<void> => {
      for (let letter = remaining.pop(); letter !== undefined; letter = remaining.pop()) {
        if (await store.jobQueue.retryFailed(queue, letter.id)) redriven += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrentRedrives }, redriveAll));
  }
  return redriven;
}

const queues: readonly PushQueue[] = Object.values(pushQueues);
type Letter = Omit<DeadLetter, 'topic'>;

async function selectLetters(
  documents: Documents,
  { topic: name, messageId }: DeadLetterFilter,
): Promise<{ topic: Topic | undefined; isSelected: (letter: Letter) => boolean }> {
  const topic = name === undefined ? undefined : await findTopicByName(documents, name);
  if (topic === null) throw new AppError('not_found', 'Topic not found');
  return {
    topic,
    isSelected: (letter) =>
      (topic === undefined || letter.topicId === topic.id) &&
      (messageId === undefined || letter.messageId === messageId),
  };
}

async function findLetters(
  { jobQueue }: DeadLetterStore,
  queue: PushQueue,
  of: { isSelected: (letter: Letter) => boolean; limit: number },
): Promise<Letter[]> {
  const letters: Letter[] = [];
  for (let offset = 0; offset < lettersMax && letters.length < of.limit; offset += pageSize) {
    const jobs = await jobQueue.failed(queue, { limit: pageSize, offset });
    letters.push(...jobs.flatMap(letterOf).filter(of.isSelected));
    if (jobs.length < pageSize) break;
  }
  return letters.slice(0, of.limit);
}

/** Jobs without a message, such as a test push, are not dead letters. */
function letterOf({ id, data, reason, failedAt }: FailedJob): Letter[] {
  const { messageId, topicId, targets } = data;
  if (typeof messageId !== 'string' || typeof topicId !== 'string') return [];
  return [{ id, messageId, topicId, devices: Array.isArray(targets) ? targets.length : null, reason, failedAt }];
}
