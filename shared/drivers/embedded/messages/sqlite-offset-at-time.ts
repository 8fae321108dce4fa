import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { clockSkewMs } from '../../../ports/messages/message-reads.ts';
import { prepareArrays } from './sqlite-message-rows.ts';

type OffsetAndTime = readonly [offset: number, timestamp: number];

/**
 * The fraction of the offsets at which the binary search ends, because a linear read is then faster (for 1,000,000
 * offsets: ten lookups instead of twenty, and reading a thousandth of the topic's messages in the index).
 */
const linearFraction = 1 / 1_024;
/**
 * Limits the linear read in restored stores, where a few offsets are so far above all others that the fraction includes
 * the rest.
 */
const linearMax = 65_536;

/**
 * Finds the lowest offset of a topic's record made at or after a time. Uses a binary search, because an index by time
 * would cost more per publish than all counters. A record is never older than an earlier one by more than the clock
 * skew, so the search finds an offset before which all records are older, and only later records are read.
 */
export function offsetAtTimeIn(db: DatabaseSync): (topic: number, time: number) => number | null {
  // Edits and deletions are rare; most topics have none.
  const hasChanges = db.prepare('SELECT 1 FROM message_changes WHERE topic = ? LIMIT 1');
  const messagesSql = (where: string): string =>
    `SELECT offset, timestamp FROM messages WHERE topic = ?1 AND ${where} ORDER BY offset LIMIT 1`;
  const messagesAndChangesSql = (where: string): string => `
    SELECT offset, timestamp FROM (
      SELECT * FROM (${messagesSql(where)})
      UNION ALL
      SELECT * FROM (SELECT offset, timestamp FROM message_changes WHERE topic = ?1 AND ${where} ORDER BY offset LIMIT 1)
    ) ORDER BY offset LIMIT 1`;
  const statements = (of: (where: string) => string): Statements => ({
    firstFrom: prepareArrays(db, of('offset >= ?2')),
    firstNotOlder: prepareArrays(db, of('offset >= ?2 AND timestamp >= ?3')),
  });
  const messageStatements = statements(messagesSql);
  const allStatements = statements(messagesAndChangesSql);
  const lastOffset = db.prepare('SELECT last_offset FROM topic_stats WHERE topic = ?');

  return (topic, time) => {
    const last = lastOffset.get(topic) as { last_offset: number } | undefined;
    if (last === undefined) return null;
    const end = last.last_offset + 1;
    const { firstFrom, firstNotOlder } = hasChanges.get(topic) === undefined ? messageStatements : allStatements;
    const from = startOfLinearSearch(firstFrom, topic, { time, end });
    const found = firstNotOlder.get(topic, from, time) as OffsetAndTime | undefined;
    return found?.[0] ?? null;
  };
}

interface Statements {
  readonly firstFrom: StatementSync;
  readonly firstNotOlder: StatementSync;
}

/**
 * Returns an offset before which all records are older than the time, with few records to read from there.
 */
function startOfLinearSearch(
  firstFrom: StatementSync,
  topic: number,
  { time, end }: { time: number; end: number },
): number {
  let from = 0;
  let upTo = end;
  const near = Math.min(end * linearFraction, linearMax);
  while (upTo - from > near) {
    const middle = from + Math.floor((upTo - from) / 2);
    const found = firstFrom.get(topic, middle) as OffsetAndTime | undefined;
    if (found !== undefined && found[1] < time - clockSkewMs) from = found[0] + 1;
    else upTo = middle;
  }
  return from;
}
