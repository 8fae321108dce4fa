import { setImmediate } from 'node:timers/promises';
import type { DatabaseSync } from 'node:sqlite';
import { clockSkewMs, type TopicMark } from '../../../ports/messages/message-reads.ts';
import type { Messages } from '../../../ports/messages/messages.ts';
import type { Count, CountCache } from './count-cache.ts';
import { prepareArrays } from './sqlite-message-rows.ts';
import { offsetAtTimeIn } from './sqlite-offset-at-time.ts';

/** Newest messages scanned before a binary search; few at first, because usually few are unread. */
const firstScanMax = 16;
const secondScanMax = 128;

/** Marks or messages counted per step, in less than a millisecond. */
const marksPerStep = 50;
const countedPerStep = 1_000;
/** The cost of a binary search, in messages. */
const searchCost = 20;

/**
 * The newest messages of a topic: how many were scanned, how many of them are after the mark, their earliest time, and
 * when the first counted one expires.
 */
type NewestCount = readonly [looked: number, counted: number, oldest: number | null, until: number | null];

type Page = Parameters<Messages['countAfter']>[1];

/**
 * Implements the port's `countAfter` in steps of some topics, so that publishes and reads can run in between. Uses
 * cached counts.
 */
export function sqliteUnreadCounts(db: DatabaseSync, cache: CountCache): Messages['countAfter'] {
  const countMissing = unreadCounter(db);
  return async (marks, page) => {
    const counts = marks.map((mark) => cache.get(mark, page));
    const missing = [...counts.keys()].filter((index) => counts[index] === undefined);
    if (missing.length === 0) return counts as number[];
    const store = missing.map((index) => cache.place(marks[index]!, page));
    for (const [at, count] of (
      await countMissing(
        missing.map((index) => marks[index]!),
        page,
      )
    ).entries()) {
      counts[missing[at]!] = count.count;
      store[at]!(count);
    }
    return counts as number[];
  };
}

function unreadCounter(db: DatabaseSync): (marks: readonly TopicMark[], page: Page) => Promise<Count[]> {
  const { countNearEnd, countBySearch } = unreadQueries(db);
  return async (marks, page) => {
    const counts: Count[] = [];
    for (let at = 0; at < marks.length; at += marksPerStep) {
      if (at > 0) await setImmediate();
      const group = marks.slice(at, at + marksPerStep);
      let counted = 0;
      for (const [index, found] of countNearEnd(group, page.now).entries()) {
        const unread = found ?? countBySearch(group[index]!, page);
        counts.push({ ...unread, count: Math.min(unread.count, page.max) });
        counted += found === null ? unread.count + searchCost : 0;
        if (counted < countedPerStep) continue;
        counted = 0;
        await setImmediate();
      }
    }
    return counts;
  };
}

const none: Count = { count: 0, until: Infinity };

function unreadQueries(db: DatabaseSync) {
  const sql = prepareStatements(db);
  const offsetAtTime = offsetAtTimeIn(db);
  return {
    /**
     * Returns the number of messages after each mark; null for a mark that is not among the newest few messages of its
     * topic.
     */
    countNearEnd(marks: readonly TopicMark[], now: number): (Count | null)[] {
      const rows = sql.newestPerMark.all(
        JSON.stringify(marks.map(({ topicId, after }) => [topicId, after])),
        now,
        firstScanMax,
      ) as unknown as [number, string][];
      const counts = new Array<Count | null>(marks.length).fill(none);
      for (const [index, newest] of rows)
        counts[index] = toCount(JSON.parse(newest) as NewestCount, firstScanMax, marks[index]!.after);
      return counts;
    },

    countBySearch({ topicId, after }: TopicMark, page: Page): Count {
      const topic = (sql.topicOf.get(topicId) as { topic: number } | undefined)?.topic;
      if (topic === undefined) return none; // removed concurrently
      const nearCount = toCount(
        sql.newest.get(after, page.now, topic, secondScanMax) as unknown as NewestCount,
        secondScanMax,
        after,
      );
      if (nearCount !== null) return nearCount;
      const from = offsetAtTime(topic, after + 1);
      if (from === null) return none;
      const [count, until] = sql.from.get(topic, from, after, page.now, page.max) as unknown as [number, number | null];
      return { count, until: until ?? Infinity };
    },
  };
}

/** Returns the count; null if the mark may be older than all scanned messages. */
function toCount([scanned, count, oldest, until]: NewestCount, limit: number, after: number): Count | null {
  return scanned < limit || oldest! < after - clockSkewMs ? { count, until: until ?? Infinity } : null;
}

/** All statements read only the index. */
function prepareStatements(db: DatabaseSync) {
  return {
    topicOf: db.prepare('SELECT topic FROM topic_stats WHERE topic_id = ?'),
    // One statement for all marks: a statement per mark takes five times as long.
    newestPerMark: prepareArrays(
      db,
      `
      WITH marks AS MATERIALIZED (SELECT key, value ->> 0 AS topic_id, value ->> 1 AS after FROM json_each(?1))
      SELECT marks.key, (
        SELECT json_array(count(*), total(isCounted), min(timestamp), min(iif(isCounted, expires_at, NULL))) FROM (
          SELECT m.timestamp, m.expires_at, (m.timestamp > marks.after AND m.deleted_at IS NULL AND m.expires_at > ?2) AS isCounted FROM messages m
          WHERE m.topic = t.topic AND m.offset >= 0 ORDER BY m.offset DESC LIMIT ?3))
      FROM marks CROSS JOIN topic_stats t ON t.topic_id = marks.topic_id`,
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
