import { lostSince, type LogConsumer } from '../../domain/log/log-consumer.ts';
import type { RecordCountRequest, RecordCounts } from '../../ports/messages/message-reads.ts';

/** Records that are counted per consumer: some milliseconds. */
const countedMax = 10_000;

export interface ConsumerLag {
  /** Readable records, or beyond 10,000 an upper bound: topics share the offsets of a partition. */
  readonly lag: number;
  /** Unread records that have expired and are not part of the consumer's `lost` yet. */
  readonly expired: number;
}

/** Returns the records between a consumer and the head of its topic. */
export async function consumerLag(
  countRecords: (topicId: string, of: Omit<RecordCountRequest, 'now'>) => Promise<RecordCounts>,
  consumer: LogConsumer,
  head: number,
): Promise<ConsumerLag> {
  const { topicId, offset } = consumer;
  if (offset >= head) return { lag: 0, expired: 0 };
  const counts = await countRecords(topicId, { from: offset, since: lostSince(consumer), max: countedMax });
  const { readable, expired, isComplete } = counts;
  return { lag: isComplete ? readable : Math.max(readable, head - offset), expired };
}
