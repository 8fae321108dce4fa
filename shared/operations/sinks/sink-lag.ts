import type { Sink } from '../../domain/sinks/sink.ts';
import type { History } from '../messages/history.ts';

/** Records that are counted per sink: some milliseconds. */
const countedMax = 10_000;

/**
 * Returns the number of records that the sink has not handled yet, including those that its filter leaves out; beyond
 * the limit an upper bound, because topics share the offsets of a partition.
 */
export async function sinkLag(
  history: Pick<History, 'countRecords' | 'lastOffset'>,
  { topicId, offset }: Pick<Sink, 'topicId' | 'offset'>,
  now: number,
): Promise<number> {
  const head = (await history.lastOffset(topicId)) + 1;
  if (offset >= head) return 0;
  const { readable, isComplete } = await history.countRecords(topicId, { from: offset, since: now, max: countedMax });
  return isComplete ? readable : Math.max(readable, head - offset);
}
