import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { prepareArrays } from './sqlite-message-rows.ts';

/** How far the clocks of publishing nodes may differ. */
export const skewMs = 10_000;

type Place = readonly [offset: number, timestamp: number];

/**
 * Finds the lowest position of a topic's record made at or after a time, without an index by time (which would cost
 * more on every publish than the rest of the topic's bookkeeping): a record is never older than one before it by more
 * than the clocks' skew, so halving the positions finds the stretch that the record lies in, and only that is read.
 */
export function offsetAtTimeIn(db: DatabaseSync): (topic: number, time: number) => number | null {
  // Edits and deletions are few: in most topics there are none to look among.
  const hasChanges = db.prepare('SELECT 1 FROM message_changes WHERE topic = ? LIMIT 1');
  const ofMessages = (where: string): string => `SELECT offset, timestamp FROM messages WHERE topic = ?1 AND ${where} ORDER BY offset LIMIT 1`;
  const ofBoth = (where: string): string => `
    SELECT offset, timestamp FROM (
      SELECT * FROM (${ofMessages(where)})
      UNION ALL
      SELECT * FROM (SELECT offset, timestamp FROM message_changes WHERE topic = ?1 AND ${where} ORDER BY offset LIMIT 1)
    ) ORDER BY offset LIMIT 1`;
  const statements = (of: (where: string) => string): Statements => ({
    placeFrom: prepareArrays(db, of('offset >= ?2')),
    placeNotOlder: prepareArrays(db, of('offset >= ?2 AND offset <= ?3 AND timestamp >= ?4')),
  });
  const amongMessages = statements(ofMessages);
  const amongBoth = statements(ofBoth);
  const lastOffset = db.prepare('SELECT last_offset FROM topic_stats WHERE topic = ?');

  return (topic, time) => {
    const last = lastOffset.get(topic) as { last_offset: number } | undefined;
    if (last === undefined) return null;
    const end = last.last_offset + 1;
    const { placeFrom, placeNotOlder } = hasChanges.get(topic) === undefined ? amongMessages : amongBoth;
    const from = boundary(placeFrom, topic, { time: time - skewMs, low: 0, end });
    const upTo = boundary(placeFrom, topic, { time: time + skewMs, low: from, end });
    const surelyNewer = placeFrom.get(topic, upTo) as Place | undefined;
    const place = placeNotOlder.get(topic, from, surelyNewer?.[0] ?? end, time) as Place | undefined;
    return place?.[0] ?? null;
  };
}

interface Statements {
  readonly placeFrom: StatementSync;
  readonly placeNotOlder: StatementSync;
}

/** A position such that the record before it is older than the time, and the record at or after it is not; none is below `low`. */
function boundary(placeFrom: StatementSync, topic: number, { time, low, end }: { time: number; low: number; end: number }): number {
  let from = low;
  let upTo = end;
  while (from < upTo) {
    const middle = from + Math.floor((upTo - from) / 2);
    const place = placeFrom.get(topic, middle) as Place | undefined;
    if (place !== undefined && place[1] < time) from = place[0] + 1;
    else upTo = middle;
  }
  return from;
}
