import { setImmediate } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import { clockSkewMs, type TopicMark } from '../../../ports/messages/message-reads.ts';
import type { Messages } from '../../../ports/messages/messages.ts';
import type { Count, CountCache } from './count-cache.ts';
import { prepareArrays } from './sqlite-message-rows.ts';
import { offsetAtTimeIn } from './sqlite-offset-at-time.ts';

/** Messages checked one by one before a binary search; few at first, because mostly few are unread. */
const nearLook = 16;
const fartherLook = 128;

/** Marks near the newest message, or messages, counted per step; each less than a millisecond. */
const marksAtOnce = 50;
const countedAtOnce = 1_000;
/** The cost of finding the start, in messages. */
const countedPerSearch = 20;

/**
 * The newest messages of a topic relative to a mark: their number, how many count, their earliest time, and when the
 * first counted one expires.
 */
type NewestCount = readonly [looked: number, counted: number, oldest: number | null, until: number | null];

type Page = Parameters<Messages['countAfter']>[1];

/** Implements the port's `countAfter` in steps of some topics, so that publishes and reads can run in between. Uses cached counts. */
export function sqliteUnreadCounts(db: DatabaseSync, kept: CountCache): Messages['countAfter'] {
  const countEach = countsIn(db);
  return async (marks, page) => {
    const counts = marks.map((mark) => kept.get(mark, page));
    const missing = [...counts.keys()].filter((index) => counts[index] === undefined);
    if (missing.length === 0) return counts as number[];
    const keep = missing.map((index) => kept.place(marks[index]!, page));
    for (const [at, count] of (
      await countEach(
        missing.map((index) => marks[index]!),
        page,
      )
    ).entries()) {
      counts[missing[at]!] = count.count;
      keep[at]!(count);
    }
    return counts as number[];
  };
}

function countsIn(db: DatabaseSync): (marks: readonly TopicMark[], page: Page) => Promise<Count[]> {
  const { near, far } = looksIn(db);
  return async (marks, page) => {
    const counts: Count[] = [];
    for (let at = 0; at < marks.length; at += marksAtOnce) {
      if (at > 0) await setImmediate();
      const group = marks.slice(at, at + marksAtOnce);
      let counted = 0;
      for (const [index, found] of near(group, page.now).entries()) {
        const unread = found ?? far(group[index]!, page);
        counts.push({ ...unread, count: Math.min(unread.count, page.max) });
        counted += found === null ? unread.count + countedPerSearch : 0;
        if (counted < countedAtOnce) continue;
        counted = 0;
        await setImmediate();
      }
    }
    return counts;
  };
}

const none: Count = { count: 0, until: Infinity };

function looksIn(db: DatabaseSync) {
  const sql = prepareStatements(db);
  const offsetAtTime = offsetAtTimeIn(db);
  return {
    /** Returns, for each mark among the newest few messages of its topic, the number of later messages; null for others. */
    near(marks: readonly TopicMark[], now: number): (Count | null)[] {
      const rows = sql.near.all(
        JSON.stringify(marks.map(({ topicId, after }) => [topicId, after])),
        now,
        nearLook,
      ) as unknown as [number, string][];
      const counts = new Array<Count | null>(marks.length).fill(none);
      for (const [index, newest] of rows)
        counts[index] = countedOf(JSON.parse(newest) as NewestCount, nearLook, marks[index]!.after);
      return counts;
    },

    far({ topicId, after }: TopicMark, page: Page): Count {
      const topic = (sql.topicOf.get(topicId) as { topic: number } | undefined)?.topic;
      if (topic === undefined) return none; // removed meanwhile
      const near = countedOf(
        sql.newest.get(after, page.now, topic, fartherLook) as unknown as NewestCount,
        fartherLook,
        after,
      );
      if (near !== null) return near;
      const from = offsetAtTime(topic, after + 1);
      if (from === null) return none;
      const [count, until] = sql.from.get(topic, from, after, page.now, page.max) as unknown as [number, number | null];
      return { count, until: until ?? Infinity };
    },
  };
}

/** The result for the newest messages; null if the mark may be below them. */
function countedOf([looked, count, oldest, until]: NewestCount, limit: number, after: number): Count | null {
  return looked < limit || oldest! < after - clockSkewMs ? { count, until: until ?? Infinity } : null;
}

/** All of them read only columns of the index. */
function prepareStatements(db: DatabaseSync) {
  return {
    topicOf: db.prepare('SELECT topic FROM topic_stats WHERE topic_id = ?'),
    // A statement per mark takes five times as long.
    near: prepareArrays(
      db,
      `
      WITH asked AS MATERIALIZED (SELECT key, value ->> 0 AS topic_id, value ->> 1 AS after FROM json_each(?1))
      SELECT asked.key, (
        SELECT json_array(count(*), total(isCounted), min(timestamp), min(iif(isCounted, expires_at, NULL))) FROM (
          SELECT m.timestamp, m.expires_at, (m.timestamp > asked.after AND m.deleted_at IS NULL AND m.expires_at > ?2) AS isCounted FROM messages m
          WHERE m.topic = t.topic AND m.offset >= 0 ORDER BY m.offset DESC LIMIT ?3))
      FROM asked CROSS JOIN topic_stats t ON t.topic_id = asked.topic_id`,
    ),
    newest: prepareArrays(
      db,
      `
      SELECT count(*), total(isCounted), min(timestamp), min(iif(isCounted, expires_at, NULL)) FROM (
        SELECT m.timestamp, m.expires_at, (m.timestamp > ? AND m.deleted_at IS NULL AND m.expires_at > ?) AS isCounted FROM messages m
        WHERE m.topic = ? AND m.offset >= 0 ORDER BY m.offset DESC LIMIT ?)`,
    ),
    from: prepareArrays(
      db,
      `
      SELECT count(*), min(expires_at) FROM (
        SELECT m.expires_at FROM messages m
        WHERE m.topic = ? AND m.offset >= ? AND m.timestamp > ? AND m.deleted_at IS NULL AND m.expires_at > ? ORDER BY m.offset LIMIT ?)`,
    ),
  };
}
