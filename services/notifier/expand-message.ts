import { setTimeout as pause } from 'node:timers/promises';
import {
  acknowledgedJob,
  pageJob,
  pushQueueOf,
  pushQueues,
  replaceJob,
  type QueuedPush,
} from '@tocsin/shared/domain/push/push-job.ts';
import type { PageName } from '@tocsin/shared/domain/escalation/escalation-state.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import { withTrace } from '@tocsin/shared/domain/trace-context.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topicCheck } from '@tocsin/shared/operations/topics/topic-check.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import type { Deliveries } from '@tocsin/shared/ports/deliveries.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { JobQueue } from '@tocsin/shared/ports/job-queue.ts';
import type { RecordBatch } from '@tocsin/shared/ports/event-log.ts';
import { followEdits } from './escalation/follow-edits.ts';
import { endDeleted, openEscalations } from './escalation/open-escalations.ts';
import { addPushJobs, type PlacedPush } from './jobs/add-push-jobs.ts';

export interface ExpandDeps {
  readonly clock: Clock;
  readonly documents: Documents;
  readonly jobQueue: Pick<JobQueue, 'add' | 'hasRoom'>;
  /** Looks a topic up after the call, see `recipientLookup`. */
  readonly hasRecipients: (topicId: string) => Promise<boolean>;
}

/** Topics per query. */
const lookupsMax = 500;

type RecipientEngine = Pick<Engine, 'storage'> & { readonly deliveries: Pick<Deliveries, 'topicsWithRecipients'> };

/** The pause between checks whether the queue has room. */
const roomPauseMs = 250;

/** Whether topics have subscribers with notifications. The batches of all partitions share queries. */
export function recipientLookup({ deliveries, storage }: RecipientEngine): ExpandDeps['hasRecipients'] {
  return topicCheck({
    storage,
    collections: [subscriptions],
    topicsMax: lookupsMax,
    find: (topicIds) => deliveries.topicsWithRecipients(topicIds),
  });
}

/**
 * Opens the escalations of the batch. Adds a job for each message, edit and deletion whose topic has subscribers with
 * notifications, and for each acknowledgement. The jobs are stored when it resolves, so the batch can be committed. A
 * repeated batch adds the same jobs, which the queue ignores by their IDs. Waits while the queue has no room, so that
 * the records wait in the log.
 *
 * Looks up the recipients of a topic after the batch was read: an older `no` would lose the first message after a
 * subscription.
 */
export async function expandMessages(
  { clock, documents, jobQueue, hasRecipients }: ExpandDeps,
  batch: Pick<RecordBatch, 'records' | 'signal'>,
): Promise<void> {
  const now = clock();
  const records = batch.records.flatMap(({ record }) => (record.message.expiresAt > now ? [record] : []));
  // Before the jobs: a push finds the escalation of its message.
  await openEscalations({ documents, clock }, records);
  const pages = await followEdits({ documents, clock }, records);
  await endDeleted({ documents, clock }, records);
  const topics = new Set<string>();
  await Promise.all(
    [...new Set(records.map(({ message }) => message.topicId))].map(async (topicId) => {
      if (await hasRecipients(topicId)) topics.add(topicId);
    }),
  );
  // Steps of an escalation can reach people who did not subscribe to the topic. A withdrawal is not pushed.
  const wanted = records.filter(
    ({ type, message }) =>
      type === 'message_acknowledged' || (topics.has(message.topicId) && type !== 'message_unacknowledged'),
  );
  if (wanted.length > 0) await waitForRoom(jobQueue, batch.signal);
  const [messages, changes] = [wanted.filter(isNew), wanted.filter((record) => !isNew(record))];
  await addPushJobs(
    jobQueue,
    [...messages, ...changes].map((record) => jobOf(record, pages.get(record))),
  );
}

/** Throws when the signal is aborted. */
async function waitForRoom(jobQueue: Pick<JobQueue, 'hasRoom'>, signal: AbortSignal): Promise<void> {
  while (!(await jobQueue.hasRoom())) await pause(roomPauseMs, undefined, { signal });
}

const isNew = ({ type }: LogRecord): boolean => type === 'message';

/** Returns the record's job and its queue: the page of an escalation that it started. The job continues its trace. */
function jobOf({ type, message, timestamp, trace }: LogRecord, page: PageName | undefined): PlacedPush {
  if (type === 'message' || page !== undefined)
    return [pushQueueOf(message.priority), withTrace(firstPage(message, page), trace)];
  const { id: messageId, topicId } = message;
  const ids = { messageId, topicId, after: null };
  const job =
    type === 'message_acknowledged'
      ? acknowledgedJob({ ...ids, acknowledgedAt: message.acknowledgement?.at ?? timestamp, pageIndex: 0 })
      : replaceJob({ ...ids, changedAt: timestamp });
  return [pushQueues.normal, withTrace(job, trace)];
}

function firstPage({ id, topicId, timestamp, priority }: Message, page: PageName | undefined): QueuedPush {
  return pageJob({ messageId: id, topicId, after: null, publishedAt: timestamp, page }, priority);
}
