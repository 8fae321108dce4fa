import { pushQueueOf, pushQueues, replaceJob, pageJob, type QueuedPush } from '@tocsin/shared/domain/push/push-job.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import { withTrace } from '@tocsin/shared/domain/trace-context.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { JobQueue } from '@tocsin/shared/ports/job-queue.ts';
import type { RecordBatch } from '@tocsin/shared/ports/event-log.ts';
import { addPushJobs, type PlacedPush } from './jobs/add-push-jobs.ts';

/** The required ports of the engine. */
export interface ExpandingEngine extends Pick<Engine, 'deliveries'> {
  readonly jobQueue: Pick<JobQueue, 'add'>;
}

/** Topics per lookup. */
const lookupsMax = 8;

/**
 * Adds a job for each message, edit and deletion of the batch whose topic has mobile subscribers. The jobs are stored when
 * it resolves, so the batch can be committed. A repeated batch adds the same jobs, which the queue ignores by their IDs.
 *
 * Looks up once per batch whether topics have recipients, without a cache: all messages of the batch are older than
 * the result, whereas a cached `no` would lose the first message after a subscription.
 */
export async function expandMessages(
  deps: { engine: ExpandingEngine; clock: Clock },
  batch: RecordBatch,
): Promise<void> {
  const now = deps.clock();
  const records = batch.records.flatMap(({ record }) => (record.message.expiresAt > now ? [record] : []));
  const topics = await topicsWithRecipients(deps.engine, new Set(records.map(({ message }) => message.topicId)));
  const wanted = records.filter(({ message }) => topics.has(message.topicId));
  const [messages, changes] = [wanted.filter(isNew), wanted.filter((record) => !isNew(record))];
  await addPushJobs(deps.engine.jobQueue, [...messages, ...changes].map(jobOf));
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

async function topicsWithRecipients(
  engine: Pick<Engine, 'deliveries'>,
  topicIds: ReadonlySet<string>,
): Promise<Set<string>> {
  const found = new Set<string>();
  const left = [...topicIds];
  const askOn = async (): Promise<void> => {
    for (let topicId = left.pop(); topicId !== undefined; topicId = left.pop()) {
      if (await engine.deliveries.hasRecipients(topicId)) found.add(topicId);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lookupsMax, left.length) }, askOn));
  return found;
}
