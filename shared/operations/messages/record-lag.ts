import type { RecordCountRequest, RecordCounts } from '../../ports/messages/message-reads.ts';

/** Records that are counted per reader: some milliseconds. */
const countedMax = 10_000;

/** What reads the log of a topic. */
export interface LogReader {
  readonly topicId: string;
  /** The next offset to read. */
  readonly offset: number;
}

export interface RecordLag {
  /** Readable records, or beyond 10,000 an upper bound: topics share the offsets of a partition. */
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
  const { readable, expired, isComplete } = await countRecords(topicId, { from: offset, since, max: countedMax });
  return { lag: isComplete ? readable : Math.max(readable, head - offset), expired };
}
