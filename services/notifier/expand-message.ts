import { setTimeout as pause } from 'node:timers/promises';
import { pushQueueOf, pushQueues, replaceJob, pageJob, type QueuedPush } from '@tocsin/shared/domain/push/push-job.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import { withTrace } from '@tocsin/shared/domain/trace-context.ts';
import { batchLoader } from '@tocsin/shared/async/batch-loader.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Deliveries } from '@tocsin/shared/ports/deliveries.ts';
import type { JobQueue } from '@tocsin/shared/ports/job-queue.ts';
import type { RecordBatch } from '@tocsin/shared/ports/event-log.ts';
import { addPushJobs, type PlacedPush } from './jobs/add-push-jobs.ts';

export interface ExpandDeps {
  readonly clock: Clock;
  readonly jobQueue: Pick<JobQueue, 'add' | 'hasRoom'>;
  /** Looks a topic up after the call, see `recipientLookup`. */
  readonly hasRecipients: (topicId: string) => Promise<boolean>;
}

/** Topics per query. */
const lookupsMax = 500;

/** The pause between checks whether the queue has room. */
const roomPauseMs = 250;

/** Whether topics have subscribers with notifications. The batches of all partitions share queries. */
export function recipientLookup(deliveries: Pick<Deliveries, 'topicsWithRecipients'>): ExpandDeps['hasRecipients'] {
  const load = batchLoader<string, true>(async (topicIds) => {
    const found = await deliveries.topicsWithRecipients(topicIds);
    return new Map([...found].map((topicId) => [topicId, true]));
  }, lookupsMax);
  return async (topicId) => (await load(topicId)) === true;
}

/**
 * Adds a job for each message, edit and deletion of the batch whose topic has subscribers with notifications. The
 * jobs are stored when it resolves, so the batch can be committed. A repeated batch adds the same jobs, which the queue
 * ignores by their IDs. Waits while the queue has no room, so that the records wait in the log.
 *
 * Looks up whether topics have recipients without a cache: all messages of the batch are older than the result,
 * whereas a cached `no` would lose the first message after a subscription.
 */
export async function expandMessages(
  { clock, jobQueue, hasRecipients }: ExpandDeps,
  batch: Pick<RecordBatch, 'records' | 'signal'>,
): Promise<void> {
  const now = clock();
  const records = batch.records.flatMap(({ record }) => (record.message.expiresAt > now ? [record] : []));
  const topics = new Set<string>();
  await Promise.all(
    [...new Set(records.map(({ message }) => message.topicId))].map(async (topicId) => {
      if (await hasRecipients(topicId)) topics.add(topicId);
    }),
  );
  const wanted = records.filter(({ message }) => topics.has(message.topicId));
  if (wanted.length > 0) await waitForRoom(jobQueue, batch.signal);
  const [messages, changes] = [wanted.filter(isNew), wanted.filter((record) => !isNew(record))];
  await addPushJobs(jobQueue, [...messages, ...changes].map(jobOf));
}

/** Throws when the signal is aborted. */
async function waitForRoom(jobQueue: Pick<JobQueue, 'hasRoom'>, signal: AbortSignal): Promise<void> {
  while (!(await jobQueue.hasRoom())) await pause(roomPauseMs, undefined, { signal });
}

const isNew = ({ type }: LogRecord): boolean => type === 'message';

/** Returns the record's job and its queue. The job continues the record's trace. */
function jobOf({ type, message, timestamp, trace }: LogRecord): PlacedPush {
  if (type === 'message') return [pushQueueOf(message.priority), withTrace(firstPage(message), trace)];
  const { id: messageId, topicId } = message;
  return [pushQueues.normal, withTrace(replaceJob({ messageId, topicId, changedAt: timestamp, after: null }), trace)];
}

function firstPage(message: Message): QueuedPush {
  return pageJob(
    { messageId: message.id, topicId: message.topicId, after: null, publishedAt: message.timestamp },
    message.priority,
  );
}
