import type { DatabaseSync } from 'node:sqlite';
import type { SqliteFile } from './sqlite-file.ts';

/** Messages removed in one write: some milliseconds, which is how long a publish may have to wait for it. */
const batchSizeMax = 250;

interface RemovedRow {
  readonly offset: number;
  readonly id: string;
  readonly topic: number;
  readonly content_rev: number;
  readonly deleted_at: number | null;
}

export interface SqliteMessageRemoval {
  removeExpired(time: number, limit: number, except?: readonly string[]): Promise<Map<string, number>>;
  removeTopic(topicId: string, limit: number): Promise<number>;
}

const columns = 'offset, id, topic, content_rev, deleted_at';
const expiredSql = `
  SELECT ${columns} FROM messages
  WHERE expires_at <= ? AND topic NOT IN (SELECT topic FROM topic_stats WHERE topic_id IN (SELECT value FROM json_each(?)))
  ORDER BY expires_at LIMIT ?`;

/**
 * Removes messages with their records, in writes short enough to stand between publishes. `end` as the writer has it;
 * `onRemoved` is called before others can see what is removed.
 */
export function sqliteMessageRemoval(
  file: SqliteFile, { end, onRemoved }: { end: () => number; onRemoved: () => void },
): SqliteMessageRemoval {
  const sql = prepareStatements(file.db);

  /** Returns how many went per topic. The end of the log is kept first: its last record may be among them. */
  const removeRows = (rows: readonly RemovedRow[]): Map<number, number> => {
    const removed = new Map<number, number>();
    const counted = new Map<number, number>();
    if (rows.length > 0) {
      sql.keepEnd.run(end());
      onRemoved();
    }
    for (const row of rows) {
      sql.removeMessage.run(row.offset);
      if (row.content_rev >= 0 || row.deleted_at !== null) sql.removeChanges.run(row.id);
      removed.set(row.topic, (removed.get(row.topic) ?? 0) + 1);
      if (row.offset >= 0 && row.deleted_at === null) counted.set(row.topic, (counted.get(row.topic) ?? 0) + 1);
    }
    for (const [topic, count] of counted) sql.addToCount.run(-count, topic);
    return removed;
  };

  const removeExpiredBatch = (time: number, batchSize: number, except: string): Map<string, number> => {
    const removed = new Map<string, number>();
    for (const [topic, count] of removeRows(sql.expired.all(time, except, batchSize) as unknown as RemovedRow[])) {
      removed.set((sql.topicIdOf.get(topic) as { topic_id: string }).topic_id, count);
    }
    return removed;
  };

  const removeTopicBatch = (topicId: string, batchSize: number): number => {
    const rows = sql.ofTopic.all(topicId, batchSize) as unknown as RemovedRow[];
    removeRows(rows);
    if (rows.length === 0) {
      sql.removeTopicChanges.run(topicId);
      sql.removeStats.run(topicId);
    }
    return rows.length;
  };

  return {
    async removeExpired(time, limit, except = []) {
      const exceptJson = JSON.stringify(except);
      const removed = new Map<string, number>();
      for (let left = limit; left > 0; ) {
        const batchSize = Math.min(left, batchSizeMax);
        let count = 0;
        for (const [topicId, ofTopic] of await file.write(() => removeExpiredBatch(time, batchSize, exceptJson))) {
          removed.set(topicId, (removed.get(topicId) ?? 0) + ofTopic);
          count += ofTopic;
        }
        if (count < batchSize) break;
        left -= count;
      }
      return removed;
    },

    async removeTopic(topicId, limit) {
      let removed = 0;
      while (removed < limit) {
        const batchSize = Math.min(limit - removed, batchSizeMax);
        const count = await file.write(() => removeTopicBatch(topicId, batchSize));
        removed += count;
        if (count < batchSize) break;
      }
      return removed;
    },
  };
}

function prepareStatements(db: DatabaseSync) {
  return {
    expired: db.prepare(expiredSql),
    ofTopic: db.prepare(`SELECT ${columns} FROM messages WHERE topic = (SELECT topic FROM topic_stats WHERE topic_id = ?) LIMIT ?`),
    removeMessage: db.prepare('DELETE FROM messages WHERE offset = ?'),
    removeChanges: db.prepare('DELETE FROM message_changes WHERE message_id = ?'),
    addToCount: db.prepare('UPDATE topic_stats SET message_count = message_count + ? WHERE topic = ?'),
    topicIdOf: db.prepare('SELECT topic_id FROM topic_stats WHERE topic = ?'),
    removeTopicChanges: db.prepare('DELETE FROM message_changes WHERE topic = (SELECT topic FROM topic_stats WHERE topic_id = ?)'),
    removeStats: db.prepare('DELETE FROM topic_stats WHERE topic_id = ?'),
    keepEnd: db.prepare('UPDATE log_end SET position = max(position, ?)'),
  };
}
