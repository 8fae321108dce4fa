import { logConsumers } from '../../collections/log-consumers.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { lostSince, type LogConsumer } from '../../domain/log/log-consumer.ts';
import type { Documents } from '../../ports/documents.ts';
import { countedRecordsMax } from '../../wire/consumer.ts';
import type { MessageReads } from '../../ports/messages/message-reads.ts';

/** Consumers per topic, the furthest behind first: anyone can create consumers in public topics. */
const consumersMax = 200;

export interface ConsumerBehind {
  readonly consumer: LogConsumer;
  /** Records that it has not read and that expired since it was last counted. */
  readonly unread: number;
}

interface SettleDeps {
  readonly documents: Pick<Documents, 'find' | 'get' | 'update'>;
  readonly messages: Pick<MessageReads, 'countRecords'>;
}

/** Returns the consumers of the topic with the lowest offsets. */
export const furthestBehind = (documents: Pick<Documents, 'find'>, topicId: string): Promise<LogConsumer[]> =>
  documents.find(logConsumers, { index: 'byOffset', equals: { topicId }, limit: consumersMax });

/** Returns the consumers of the topic with unread records that expired at or before the time, by offset. */
export async function consumersBehind(
  { documents, messages }: SettleDeps,
  topicId: string,
  upTo: number,
): Promise<ConsumerBehind[]> {
  const behind: ConsumerBehind[] = [];
  for (const consumer of await furthestBehind(documents, topicId)) {
    const unread = await countUnread(messages, consumer, upTo);
    if (unread > 0) behind.push({ consumer, unread });
  }
  return behind;
}

/**
 * Adds the unread records that expired at or before the time to the losses of the topic's consumers. Call before these
 * records are removed: afterwards they cannot be counted. Idempotent. Resolves with the consumers that lost records.
 */
export async function settleConsumers(deps: SettleDeps, topicId: string, upTo: number): Promise<ConsumerBehind[]> {
  const behind = await consumersBehind(deps, topicId, upTo);
  for (const { consumer } of behind) {
    await retryStale(async () => {
      // Read again, because its reader may move it meanwhile.
      const current = await deps.documents.get(logConsumers, consumer.id);
      if (current === null || lostSince(current) >= upTo) return;
      const unread = await countUnread(deps.messages, current, upTo);
      await deps.documents.update(logConsumers, current, { lost: (current.lost ?? 0) + unread, lostUpTo: upTo });
    });
  }
  return behind;
}

async function countUnread(
  messages: Pick<MessageReads, 'countRecords'>,
  consumer: LogConsumer,
  upTo: number,
): Promise<number> {
  const since = lostSince(consumer);
  if (since >= upTo) return 0;
  const of = { from: consumer.offset, since, now: upTo, max: countedRecordsMax };
  return (await messages.countRecords(consumer.topicId, of)).expired;
}
