import type { DatabaseSync } from 'node:sqlite';

/** How far the clocks of publishing nodes may differ. */
export const skewMs = 10_000;

interface Place {
  readonly offset: number;
  readonly timestamp: number;
}

/**
 * Finds the lowest position of a topic's record made at or after a time, without an index by time (which would cost
 * more on every publish than the rest of the topic's bookkeeping): a record is never older than one before it by more
 * than the clocks' skew, so halving the positions finds the stretch that the record lies in, and only that is read.
 */
export function offsetAtTimeIn(db: DatabaseSync): (topic: number, time: number) => number | null {
  const ofBoth = (where: string): string => `
    SELECT offset, timestamp FROM (
      SELECT * FROM (SELECT offset, timestamp FROM messages WHERE topic = ?1 AND ${where} ORDER BY offset LIMIT 1)
      UNION ALL
      SELECT * FROM (SELECT offset, timestamp FROM message_changes WHERE topic = ?1 AND ${where} ORDER BY offset LIMIT 1)
    ) ORDER BY offset LIMIT 1`;
  const placeFrom = db.prepare(ofBoth('offset >= ?2'));
  const placeNotOlder = db.prepare(ofBoth('offset >= ?2 AND offset <= ?3 AND timestamp >= ?4'));
  const lastOffset = db.prepare('SELECT last_offset FROM topic_stats WHERE topic = ?');

  /** A position such that the record before it is older than the time, and the record at or after it is not. */
  const boundary = (topic: number, time: number, end: number): number => {
    let low = 0;
    let high = end;
    while (low < high) {
      const middle = low + Math.floor((high - low) / 2);
      const place = placeFrom.get(topic, middle) as Place | undefined;
      if (place !== undefined && place.timestamp < time) low = place.offset + 1;
      else high = middle;
    }
    return low;
  };

  return (topic, time) => {
    const last = lastOffset.get(topic) as { last_offset: number } | undefined;
    if (last === undefined) return null;
    const end = last.last_offset + 1;
    const from = boundary(topic, time - skewMs, end);
    const upTo = boundary(topic, time + skewMs, end);
    const surelyNewer = placeFrom.get(topic, upTo) as Place | undefined;
    const place = placeNotOlder.get(topic, from, surelyNewer?.offset ?? end, time) as Place | undefined;
    return place?.offset ?? null;
  };
}
