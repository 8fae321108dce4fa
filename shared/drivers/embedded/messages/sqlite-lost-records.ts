import type { DatabaseSync } from 'node:sqlite';
import type { MessageReads, RecordCountRequest, RecordCounts } from '../../../ports/messages/message-reads.ts';
import { lostRecordsToKeep } from '../../lost-records.ts';

type LostRange = Parameters<MessageReads['lastLost']>[1];

export type SqliteLostRecords = ReturnType<typeof sqliteLostRecords>;

/** The table of lost records. All calls are synchronous; `store` and `forget` run inside a write of the file. */
export function sqliteLostRecords(db: DatabaseSync) {
  const sql = prepareStatements(db);

  const topicOf = (topicId: string): number | undefined =>
    (sql.topicOf.get(topicId) as { topic: number } | undefined)?.topic;

  return {
    /** Stores the offsets of the topic's records that were just removed. */
    store(topic: number, offsets: readonly number[]): void {
      const { offset: first } = sql.firstStored.get(topic) as { offset: number | null };
      const { kept, below } = lostRecordsToKeep(offsets, first);
      for (const offset of kept) sql.insert.run(topic, offset);
      if (below !== null) sql.removeBelow.run(topic, below);
    },

    forget(topicId: string): void {
      sql.forget.run(topicId);
    },

    lastLost(topicId: string, { from, before, now }: LostRange): number | null {
      const topic = topicOf(topicId);
      if (topic === undefined) return null;
      return (sql.lastLost.get(topic, Math.max(from, 0), before, now) as { offset: number | null }).offset;
    },

    countRecords(topicId: string, { from, max, since, now }: RecordCountRequest): RecordCounts {
      const topic = topicOf(topicId);
      if (topic === undefined) return { readable: 0, expired: 0, isComplete: true };
      type Sums = { all: number; readable: number; expired: number };
      const counts = [sql.countMessageRecords, sql.countChangeRecords].map(
        (statement) => statement.get(topic, Math.max(from, 0), max, since, now) as Sums,
      );
      return {
        readable: counts.reduce((sum, { readable }) => sum + readable, 0),
        expired: counts.reduce((sum, { expired }) => sum + expired, 0),
        isComplete: counts.every(({ all }) => all < max),
      };
    },
  };
}

function prepareStatements(db: DatabaseSync) {
  const countColumns =
    'count(*) AS "all", total(expires_at > ?5) AS readable, total(expires_at > ?4 AND expires_at <= ?5) AS expired';
  return {
    topicOf: db.prepare('SELECT topic FROM topic_stats WHERE topic_id = ?'),
    firstStored: db.prepare(`
      SELECT min(offset) AS offset FROM (
        SELECT min(offset) AS offset FROM messages WHERE topic = ?1 AND offset >= 0
        UNION ALL SELECT min(offset) FROM message_changes WHERE topic = ?1)`),
    insert: db.prepare('INSERT INTO lost_records VALUES (?, ?) ON CONFLICT DO NOTHING'),
    removeBelow: db.prepare('DELETE FROM lost_records WHERE topic = ? AND offset < ?'),
    forget: db.prepare('DELETE FROM lost_records WHERE topic = (SELECT topic FROM topic_stats WHERE topic_id = ?)'),
    lastLost: db.prepare(`
      SELECT max(offset) AS offset FROM (
        SELECT max(offset) AS offset FROM lost_records WHERE topic = ?1 AND offset >= ?2 AND offset < ?3
        UNION ALL
        SELECT * FROM (SELECT offset FROM messages INDEXED BY messages_by_topic
          WHERE topic = ?1 AND offset >= ?2 AND offset < ?3 AND expires_at <= ?4 ORDER BY offset DESC LIMIT 1)
        UNION ALL
        SELECT * FROM (SELECT c.offset FROM message_changes c INDEXED BY message_changes_by_topic JOIN messages m ON m.id = c.message_id
          WHERE c.topic = ?1 AND c.offset >= ?2 AND c.offset < ?3 AND m.offset >= 0 AND m.expires_at <= ?4
          ORDER BY c.offset DESC LIMIT 1))`),
    countMessageRecords: db.prepare(`
      SELECT ${countColumns} FROM (SELECT expires_at FROM messages INDEXED BY messages_by_topic
        WHERE topic = ?1 AND offset >= ?2 ORDER BY offset LIMIT ?3)`),
    countChangeRecords: db.prepare(`
      SELECT ${countColumns} FROM (SELECT m.expires_at FROM message_changes c INDEXED BY message_changes_by_topic
        JOIN messages m ON m.id = c.message_id
        WHERE c.topic = ?1 AND c.offset >= ?2 AND m.offset >= 0 ORDER BY c.offset LIMIT ?3)`),
  };
}
