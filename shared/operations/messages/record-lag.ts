import type { RecordCountRequest, RecordCounts } from '../../ports/messages/message-reads.ts';
import { countedRecordsMax } from '../../wire/consumer.ts';

/** What reads the log of a topic. */
export interface LogReader {
  readonly topicId: string;
  /** The next offset to read. */
  readonly offset: number;
}

export interface RecordLag {
  /** Readable records, or beyond `countedRecordsMax` an upper bound: topics share the offsets of a partition. */
  readonly lag: number;
  /** Unread records that have expired after `since`. */
  readonly expired: number;
}

/** Returns the records between a reader and the head of its topic. `since` is in milliseconds since the epoch. */
export async function recordLag(
  countRecords: (topicId: string, of: Omit<RecordCountRequest, 'now'>) => Promise<RecordCounts>,
  { topicId, offset }: LogReader,
  { head, since }: { readonly head: number; readonly since: number },
): Promise<RecordLag> {
  if (offset >= head) return { lag: 0, expired: 0 };
  const { readable, expired, isComplete } = await countRecords(topicId, {
    from: offset,
    since,
    max: countedRecordsMax,
  });
  return { lag: isComplete ? readable : Math.max(readable, head - offset), expired };
}
