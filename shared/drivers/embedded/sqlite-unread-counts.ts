import { setImmediate } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import { clockSkewMs, type Messages, type TopicMark } from '../../ports/messages.ts';
import { prepareArrays } from './sqlite-message-rows.ts';
import { offsetAtTimeIn } from './sqlite-offset-at-time.ts';

/** Messages looked at one by one before a time is searched for: a few at first, since mostly few are unread. */
const nearLook = 16;
const fartherLook = 128;

/** What is counted before others have their turn: marks near the newest message, or messages; each less than a millisecond's. */
const marksAtOnce = 50;
const countedAtOnce = 1_000;
/** To find where to begin costs as much as so many messages. */
const countedPerSearch = 20;

/** What the newest messages of a topic say about a mark: how many there are, how many count, and the least time of all. */
type NewestCount = readonly [looked: number, counted: number, oldest: number | null];

/** The port's `countAfter`: some topics at a time, so that publishes and reads come through in between. */
export function sqliteUnreadCounts(db: DatabaseSync): Messages['countAfter'] {
  const count = countsIn(db);
  return async (marks, page) => {
    const counts: number[] = [];
    for (let at = 0; at < marks.length; at += marksAtOnce) {
      if (at > 0) await setImmediate();
      const group = marks.slice(at, at + marksAtOnce);
      let counted = 0;
      for (const [index, near] of count.near(group, page.now).entries()) {
        const unread = near ?? count.far(group[index]!, page);
        counts.push(Math.min(unread, page.max));
        counted += near === null ? unread + countedPerSearch : 0;
        if (counted < countedAtOnce) continue;
        counted = 0;
        await setImmediate();
      }
    }
    return counts;
  };
}

function countsIn(db: DatabaseSync) {
  const sql = prepareStatements(db);
  const offsetAtTime = offsetAtTimeIn(db);
  return {
    /** For each mark that lies among the newest few messages of its topic how many come after it, null for the others. */
    near(marks: readonly TopicMark[], now: number): (number | null)[] {
      const rows = sql.near.all(JSON.stringify(marks.map(({ topicId, after }) => [topicId, after])), now, nearLook) as unknown as [number, string][];
      const counts = new Array<number | null>(marks.length).fill(0);
      for (const [index, newest] of rows) counts[index] = countedOf(JSON.parse(newest) as NewestCount, nearLook, marks[index]!.after);
      return counts;
    },

    far({ topicId, after }: TopicMark, page: { max: number; now: number }): number {
      const topic = (sql.topicOf.get(topicId) as { topic: number } | undefined)?.topic;
      if (topic === undefined) return 0; // removed meanwhile
      const near = countedOf(sql.newest.get(after, page.now, topic, fartherLook) as unknown as NewestCount, fartherLook, after);
      if (near !== null) return near;
      const from = offsetAtTime(topic, after + 1);
      if (from === null) return 0;
      return (sql.from.get(topic, from, after, page.now, page.max) as { count: number }).count;
    },
  };
}

/** What a look at the newest messages found; null when the mark may lie below them. */
function countedOf([looked, counted, oldest]: NewestCount, limit: number, after: number): number | null {
  return looked < limit || oldest! < after - clockSkewMs ? counted : null;
}

/** All of them read columns of the index alone. */
function prepareStatements(db: DatabaseSync) {
  return {
    topicOf: db.prepare('SELECT topic FROM topic_stats WHERE topic_id = ?'),
    // A statement for each mark takes five times as long.
    near: prepareArrays(db, `
      WITH asked AS MATERIALIZED (SELECT key, value ->> 0 AS topic_id, value ->> 1 AS after FROM json_each(?1))
      SELECT asked.key, (
        SELECT json_array(count(*), total(isCounted), min(timestamp)) FROM (
          SELECT m.timestamp, (m.timestamp > asked.after AND m.deleted_at IS NULL AND m.expires_at > ?2) AS isCounted FROM messages m
          WHERE m.topic = t.topic AND m.offset >= 0 ORDER BY m.offset DESC LIMIT ?3))
      FROM asked CROSS JOIN topic_stats t ON t.topic_id = asked.topic_id`),
    newest: prepareArrays(db, `
      SELECT count(*), total(isCounted), min(timestamp) FROM (
        SELECT m.timestamp, (m.timestamp > ? AND m.deleted_at IS NULL AND m.expires_at > ?) AS isCounted FROM messages m
        WHERE m.topic = ? AND m.offset >= 0 ORDER BY m.offset DESC LIMIT ?)`),
    from: db.prepare(`
      SELECT count(*) AS count FROM (
        SELECT 1 FROM messages m
        WHERE m.topic = ? AND m.offset >= ? AND m.timestamp > ? AND m.deleted_at IS NULL AND m.expires_at > ? ORDER BY m.offset LIMIT ?)`),
  };
}
