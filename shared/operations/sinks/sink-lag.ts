import type { Sink } from '../../domain/sinks/sink.ts';
import type { RecordCountRequest, RecordCounts } from '../../ports/messages/message-reads.ts';

/** Records that are counted per sink: some milliseconds. */
const countedMax = 10_000;

/**
 * Returns the number of records below the head that the sink has not handled yet, including those that its filter
 * leaves out; beyond the limit an upper bound, because topics share the offsets of a partition.
 */
export async function sinkLag(
  countRecords: (topicId: string, of: Omit<RecordCountRequest, 'now'>) => Promise<RecordCounts>,
  { topicId, offset }: Pick<Sink, 'topicId' | 'offset'>,
  { head, now }: { readonly head: number; readonly now: number },
): Promise<number> {
  if (offset >= head) return 0;
  const { readable, isComplete } = await countRecords(topicId, { from: offset, since: now, max: countedMax });
  return isComplete ? readable : Math.max(readable, head - offset);
}
