import type { DatabaseSync } from 'node:sqlite';
import { plusVolume, type MessageVolume } from '../../../domain/messages/message-volume.ts';
import type { MessageState } from '../../../ports/messages/message-retention.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { sqliteLostRecords, type SqliteLostRecords } from './sqlite-lost-records.ts';
import { volumeColumn } from './sqlite-message-schema.ts';

/** Messages removed per write: some milliseconds, which publishes may have to wait. */
const batchSizeMax = 250;

interface RemovedRow {
  readonly offset: number;
  readonly id: string;
  readonly topic: number;
  readonly content_rev: number;
  readonly deleted_at: number | null;
  readonly expires_at: number;
  readonly bytes: number;
}

export interface SqliteMessageRemoval {
  /**
   * Returns a lower bound on the expiry of unremoved messages that expired at or before the time, without topics in
   * `except`.
   */
  expiredFrom(time: number, except: readonly string[]): number;
  countExpired(time: number, of: { max: number; except?: readonly string[] }): number;
  removeExpired(time: number, limit: number, except?: readonly string[]): Promise<Map<string, MessageVolume>>;
  removeInState(topicId: string, of: { time: number; states: readonly MessageState[] }): Promise<MessageVolume>;
  removeTopic(topicId: string, limit: number): Promise<number>;
  /** Call when a message with this or a later expiry is written. */
  onWritten(expiresAt: number): void;
  /** Adds the correction to the topic's count. Other writes do not change the difference, so it can be added later. */
  addToCount(topicId: string, count: number): Promise<void>;
}

const columns = `offset, id, topic, content_rev, deleted_at, expires_at, ${volumeColumn}`;
const isDue =
  'expires_at BETWEEN ? AND ? AND topic NOT IN (SELECT topic FROM topic_stats WHERE topic_id IN (SELECT value FROM json_each(?)))';

const isOfTopic = 'topic = (SELECT topic FROM topic_stats WHERE topic_id = ?)';
const noVolume: MessageVolume = { messages: 0, bytes: 0 };

/**
 * Removes messages with their records, with short writes between publishes. `end` as in the writer; `onRemoved` is
 * called with the affected topics before the removal becomes visible.
 */
export function sqliteMessageRemoval(
  file: SqliteFile,
  { end, onRemoved }: { end: () => number; onRemoved: (topicIds: readonly string[]) => void },
): SqliteMessageRemoval {
  const sql = prepareStatements(file.db);
  const lost = sqliteLostRecords(file.db);

  const topicIdOf = (topic: number): string => (sql.topicIdOf.get(topic) as { topic_id: string }).topic_id;

  const removeRows = rowRemoval(sql, { lost, end, onRemoved: (topics) => onRemoved(topics.map(topicIdOf)) });
  const due = dueMessages(sql);

  const removeExpiredBatch = (time: number, batchSize: number, except: string): Map<string, MessageVolume> => {
    const removed = new Map<string, MessageVolume>();
    for (const [topic, volume] of removeRows(due.first(time, batchSize, except))) removed.set(topicIdOf(topic), volume);
    return removed;
  };

  const removeTopicBatch = (topicId: string, batchSize: number): number => {
    const rows = sql.ofTopic.all(topicId, batchSize) as unknown as RemovedRow[];
    removeRows(rows);
    if (rows.length === 0) {
      sql.removeTopicChanges.run(topicId);
      lost.forget(topicId);
      sql.removeStats.run(topicId);
    }
    return rows.length;
  };

  return {
    expiredFrom: (time, except) => due.from(time, JSON.stringify(except)),
    countExpired: (time, { max, except = [] }) => due.count(time, max, JSON.stringify(except)),

    async removeExpired(time, limit, except = []) {
      const exceptJson = JSON.stringify(except);
      const removed = new Map<string, MessageVolume>();
      for (let left = limit; left > 0;) {
        const batchSize = Math.min(left, batchSizeMax);
        let count = 0;
        for (const [topicId, ofTopic] of await file.writeBulk(() => removeExpiredBatch(time, batchSize, exceptJson))) {
          removed.set(topicId, plusVolume(removed.get(topicId), ofTopic));
          count += ofTopic.messages;
        }
        if (count < batchSize) break;
        left -= count;
      }
      return removed;
    },

    async removeInState(topicId, { time, states }) {
      let removed = noVolume;
      for (let at = 0; at === 0 || at < states.length; at += batchSizeMax) {
        const batch = states.slice(at, at + batchSizeMax);
        const [ofTopic = noVolume] = await file.writeBulk(() =>
          removeRows(rowsInState(sql, topicId, time, batch)).values(),
        );
        removed = plusVolume(removed, ofTopic);
      }
      return removed;
    },

    onWritten: due.onWritten,
    addToCount: (topicId, count) => file.write(() => void sql.addToCountOf.run(count, topicId)),

    async removeTopic(topicId, limit) {
      let removed = 0;
      while (removed < limit) {
        const batchSize = Math.min(limit - removed, batchSizeMax);
        const count = await file.writeBulk(() => removeTopicBatch(topicId, batchSize));
        removed += count;
        if (count < batchSize) break;
      }
      return removed;
    },
  };
}

type Statements = ReturnType<typeof prepareStatements>;

interface RowRemoval {
  readonly lost: SqliteLostRecords;
  readonly end: () => number;
  readonly onRemoved: (topics: readonly number[]) => void;
}

/**
 * Returns a function that removes rows and returns the removed volume per topic. It stores the end of the log first,
 * because its last record may be removed.
 */
function rowRemoval(sql: Statements, { lost, end, onRemoved }: RowRemoval) {
  return (rows: readonly RemovedRow[]): Map<number, MessageVolume> => {
    const removed = new Map<number, MessageVolume>();
    const counted = new Map<number, number>();
    if (rows.length === 0) return removed;
    sql.keepEnd.run(end());
    for (const row of rows) {
      removed.set(row.topic, plusVolume(removed.get(row.topic), { messages: 1, bytes: row.bytes }));
      if (row.offset >= 0 && row.deleted_at === null) counted.set(row.topic, (counted.get(row.topic) ?? 0) + 1);
    }
    for (const [topic, count] of counted) sql.addToCount.run(-count, topic);
    const gone = Map.groupBy(rows, ({ topic }) => topic);
    for (const [topic, ofTopic] of gone) lost.store(topic, removeRecords(sql, ofTopic));
    onRemoved([...removed.keys()]);
    return removed;
  };
}

/** Returns the messages that are in the given state, and expired changes without a message. */
function rowsInState(sql: Statements, topicId: string, time: number, states: readonly MessageState[]): RemovedRow[] {
  const rows = states.flatMap(({ id, offset, contentRev, deletedAt }) =>
    sql.inState.all(offset, id, topicId, contentRev, deletedAt, time),
  );
  return [...rows, ...sql.stubs.all(topicId, time, batchSizeMax)] as unknown as RemovedRow[];
}

/** Removes messages with their records. Returns their offsets, without those of stubs, which no reader gets. */
function removeRecords(sql: Statements, rows: readonly RemovedRow[]): number[] {
  return rows.flatMap(({ offset, id, content_rev, deleted_at }) => {
    sql.removeMessage.run(offset);
    const isChanged = content_rev >= 0 || deleted_at !== null;
    const changes = (isChanged ? sql.removeChanges.all(id) : []) as { offset: number }[];
    return offset < 0 ? [] : [offset, ...changes.map((change) => change.offset)];
  });
}

/** Finds expired messages, except those of topics in `except`, oldest expiry first. */
function dueMessages(sql: Statements) {
  /** Skips messages that expired before `from`: they belong to topics in `except` or were removed. */
  let swept = { except: '[]', from: 0, time: 0 };
  const dueFrom = (time: number, except: string): number =>
    swept.except === except && swept.time <= time ? swept.from : 0;
  return {
    from: dueFrom,
    first(time: number, limit: number, except: string): readonly RemovedRow[] {
      const rows = sql.expired.all(dueFrom(time, except), time, except, limit) as unknown as RemovedRow[];
      swept = { except, from: rows[0]?.expires_at ?? time, time };
      return rows;
    },
    onWritten(expiresAt: number): void {
      // The clock went back, or the expiry of a message changed.
      if (expiresAt <= swept.from) swept = { ...swept, from: expiresAt };
    },
    count(time: number, max: number, except: string): number {
      const { count } = sql.countExpired.get(dueFrom(time, except), time, except, max) as { count: number };
      if (count === 0) swept = { except, from: time, time };
      return count;
    },
  };
}

function prepareStatements(db: DatabaseSync) {
  return {
    expired: db.prepare(`SELECT ${columns} FROM messages WHERE ${isDue} ORDER BY expires_at LIMIT ?`),
    countExpired: db.prepare(
      `SELECT count(*) AS count FROM (SELECT 1 FROM messages INDEXED BY messages_by_expiry WHERE ${isDue} LIMIT ?)`,
    ),
    ofTopic: db.prepare(
      `SELECT ${columns} FROM messages WHERE topic = (SELECT topic FROM topic_stats WHERE topic_id = ?) LIMIT ?`,
    ),
    inState: db.prepare(
      `SELECT ${columns} FROM messages WHERE offset = ? AND id = ? AND ${isOfTopic} AND content_rev = ? AND deleted_at IS ? AND expires_at <= ?`,
    ),
    stubs: db.prepare(`SELECT ${columns} FROM messages WHERE ${isOfTopic} AND offset < 0 AND expires_at <= ? LIMIT ?`),
    removeMessage: db.prepare('DELETE FROM messages WHERE offset = ?'),
    removeChanges: db.prepare('DELETE FROM message_changes WHERE message_id = ? RETURNING offset'),
    addToCount: db.prepare('UPDATE topic_stats SET message_count = message_count + ? WHERE topic = ?'),
    addToCountOf: db.prepare('UPDATE topic_stats SET message_count = message_count + ? WHERE topic_id = ?'),
    topicIdOf: db.prepare('SELECT topic_id FROM topic_stats WHERE topic = ?'),
    removeTopicChanges: db.prepare(
      'DELETE FROM message_changes WHERE topic = (SELECT topic FROM topic_stats WHERE topic_id = ?)',
    ),
    removeStats: db.prepare('DELETE FROM topic_stats WHERE topic_id = ?'),
    keepEnd: db.prepare('UPDATE log_end SET position = max(position, ?)'),
  };
}
