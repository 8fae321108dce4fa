import type { DatabaseSync } from 'node:sqlite';
import { plusVolume, type MessageVolume } from '../../../domain/messages/message-volume.ts';
import type { ExpiredOfTopic } from '../../../ports/messages/message-retention.ts';
import { volumeColumn } from './sqlite-message-schema.ts';
import { messageColumns, prepareArrays, type MessageRow } from './sqlite-message-rows.ts';
import type { ReadJob } from './sqlite-read-job.ts';
import type { Steps } from './sqlite-message-search.ts';

/** Messages per step: some milliseconds. */
const messagesPerStep = 2_000;

type ExpiredQuery = Omit<Extract<ReadJob, { kind: 'expired' }>, 'kind'>;
type TopicQuery = Omit<Extract<ReadJob, { kind: 'held' | 'expired-of' }>, 'kind'>;
type ScannedRow = readonly [offset: number, expiresAt: number, deletedAt: number | null];
/** A message with its `content_rev`. */
export type ExpiredMessageRow = readonly [...MessageRow, contentRev: number];
type ExpiredRow = readonly [expiresAt: number, topic: number, offset: number, bytes: number];

export type SqliteRetentionReads = ReturnType<typeof sqliteRetentionReads>;

/** The port's reads for sweeps, which may touch any number of rows. They need their own connection. */
export function sqliteRetentionReads(db: DatabaseSync) {
  const sql = prepareStatements(db);

  /**
   * Yields, in pieces, the messages that expired within a period, except those of topics in `except`. After a full
   * piece, continues with the rest of its last index key.
   */
  function* expiredRows({ from, time, except }: ExpiredQuery): Generator<readonly ExpiredRow[], void, void> {
    const exceptJson = JSON.stringify(except);
    let last: ExpiredRow = [from, -1, 0, 0];
    for (;;) {
      let rows = sql.expiredAfter.all(last[0], last[1], time, exceptJson, messagesPerStep) as unknown as ExpiredRow[];
      yield rows;
      if (rows.length < messagesPerStep) return;
      do {
        last = rows.at(-1) ?? last;
        rows = sql.expiredBeside.all(last[0], last[1], last[2], messagesPerStep) as unknown as ExpiredRow[];
        yield rows;
      } while (rows.length === messagesPerStep);
    }
  }

  /** Scans the index by topic in pieces, because the messages can be few among many. */
  function* scanTopic(
    { topicId, page: { after, limit } }: TopicQuery,
    isFound: (expiresAt: number, deletedAt: number | null) => boolean,
  ): Steps<ExpiredMessageRow[]> {
    const found: ExpiredMessageRow[] = [];
    for (let last = Math.max(after, -1); ;) {
      const scanned = sql.scanned.all(topicId, last, messagesPerStep) as unknown as ScannedRow[];
      for (const [offset, expiresAt, deletedAt] of scanned) {
        if (!isFound(expiresAt, deletedAt)) continue;
        const row = sql.messageAt.get(offset) as unknown as ExpiredMessageRow | undefined;
        // Removed since the scan.
        if (row !== undefined) found.push(row);
        if (found.length === limit) return found;
      }
      if (scanned.length < messagesPerStep) return found;
      last = scanned.at(-1)![0];
      yield;
    }
  }

  return {
    *expired(query: ExpiredQuery): Steps<ExpiredOfTopic[]> {
      const found = new Map<number, MessageVolume>();
      for (const rows of expiredRows(query)) {
        for (const [, topic, , bytes] of rows) found.set(topic, plusVolume(found.get(topic), { messages: 1, bytes }));
        yield;
      }
      return [...found].map(([topic, volume]) => ({
        topicId: (sql.topicIdOf.get(topic) as unknown as [string])[0],
        ...volume,
      }));
    },

    *oldestKept(topicIds: readonly string[], time: number): Steps<[string, number][]> {
      const oldest: [string, number][] = [];
      for (const topicId of topicIds) {
        const row = sql.oldestKept.get(topicId, time) as unknown as [number] | undefined;
        if (row !== undefined) oldest.push([topicId, row[0]]);
        yield;
      }
      return oldest;
    },

    held: (query: TopicQuery) =>
      scanTopic(query, (expiresAt, deletedAt) => expiresAt <= query.page.time || deletedAt !== null),
    expiredOf: (query: TopicQuery) => scanTopic(query, (expiresAt) => expiresAt <= query.page.time),

    /** Returns the difference between the actual and the stored count of the topic, read in one snapshot. */
    *countDrift(topicId: string): Steps<number> {
      return (sql.countDrift.get(topicId) as unknown as [number] | undefined)?.[0] ?? 0;
    },
  };
}

function prepareStatements(db: DatabaseSync) {
  const columns = `expires_at, topic, offset, ${volumeColumn}`;
  const ofTopic = 'topic = (SELECT topic FROM topic_stats WHERE topic_id = ?)';
  return {
    expiredAfter: prepareArrays(
      db,
      `
      SELECT ${columns} FROM messages INDEXED BY messages_by_expiry
      WHERE (expires_at, topic) > (?, ?) AND expires_at <= ? AND topic NOT IN (SELECT topic FROM topic_stats WHERE topic_id IN (SELECT value FROM json_each(?))) ORDER BY expires_at, topic, offset LIMIT ?`,
    ),
    expiredBeside: prepareArrays(
      db,
      `
      SELECT ${columns} FROM messages INDEXED BY messages_by_expiry
      WHERE expires_at = ? AND topic = ? AND offset > ? ORDER BY offset LIMIT ?`,
    ),
    oldestKept: prepareArrays(
      db,
      `
      SELECT timestamp FROM messages INDEXED BY messages_by_topic
      WHERE ${ofTopic} AND offset >= 0 AND expires_at > ? AND deleted_at IS NULL ORDER BY offset LIMIT 1`,
    ),
    scanned: prepareArrays(
      db,
      `
      SELECT offset, expires_at, deleted_at FROM messages INDEXED BY messages_by_topic
      WHERE ${ofTopic} AND offset > ? ORDER BY offset LIMIT ?`,
    ),
    messageAt: prepareArrays(db, `SELECT ${messageColumns}, m.content_rev FROM messages m WHERE m.offset = ?`),
    countDrift: prepareArrays(
      db,
      `
      SELECT (SELECT count(*) FROM messages m INDEXED BY messages_by_topic WHERE m.topic = s.topic AND m.offset >= 0 AND m.deleted_at IS NULL) - s.message_count
      FROM topic_stats s WHERE s.topic_id = ?`,
    ),
    topicIdOf: prepareArrays(db, 'SELECT topic_id FROM topic_stats WHERE topic = ?'),
  };
}
