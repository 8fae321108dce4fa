import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { History } from '@tocsin/shared/operations/messages/history.ts';
import type { Scan } from '@tocsin/shared/operations/messages/scan-matches.ts';
import type { TopicRecord } from '@tocsin/shared/ports/messages/message-reads.ts';
import { z } from 'zod';

export const gapSchema = z
  .object({
    from_offset: z.int().meta({ description: 'Where the read started.' }),
    to_offset: z
      .int()
      .meta({ description: 'The offset of the next record; without one, one more than the last lost offset.' }),
    reason: z.enum(['expired', 'deleted_topic_history']),
  })
  .meta({ id: 'LogGap' });

export type LogGap = z.infer<typeof gapSchema>;

export interface LogBounds {
  readonly earliest_offset: number;
  readonly head: number;
  readonly gap: LogGap | null;
}

/** A read of a topic's log: its start, and the first and last record that it read. */
export interface LogRead extends Pick<Scan<Pick<TopicRecord, 'offset'>>, 'first' | 'last'> {
  readonly topic: Pick<Topic, 'id' | 'formerEnd'>;
  readonly from: number;
  /** The time that decided what had expired; null means now. */
  readonly now: number | null;
}

/** Returns the bounds of the log, consistent with the read. */
export async function logBounds(
  history: Pick<History, 'earliestOffset' | 'lastLost' | 'lastOffset'>,
  read: LogRead,
): Promise<LogBounds> {
  const { topic, from } = read;
  const first = read.first?.offset;
  const [lastOffset, earliest] = await Promise.all([
    history.lastOffset(topic.id),
    from === 0 && first !== undefined ? first : history.earliestOffset(topic.id),
  ]);
  const head = Math.max(lastOffset, read.last?.offset ?? -1) + 1;
  return {
    earliest_offset: Math.min(earliest ?? head, first ?? head),
    head,
    gap: from < Math.max(head, topic.formerEnd ?? 0) ? await gapOf(history, read) : null,
  };
}

/**
 * Returns the gap between the start of the read and its first record, or null. Topics share offsets, so a gap exists
 * only if a record of the topic, or of a deleted topic of its name, is known to have been there.
 */
export async function gapOf(
  history: Pick<History, 'lastLost'>,
  { topic, from, now, first: record }: Omit<LogRead, 'last'>,
): Promise<LogGap | null> {
  const first = record?.offset;
  if (first === from) return null;
  const lost = await history.lastLost(topic.id, { from, before: first ?? Number.MAX_SAFE_INTEGER, now });
  const formerEnd = topic.formerEnd ?? 0;
  const isFormer = from < formerEnd;
  if (lost === null && !isFormer) return null;
  return {
    from_offset: from,
    to_offset: first ?? Math.max((lost ?? -1) + 1, formerEnd),
    reason: isFormer ? 'deleted_topic_history' : 'expired',
  };
}
