import type { DatabaseSync } from 'node:sqlite';
import type { PlacedRecord, RecordType } from '../../../domain/messages/log-record.ts';
import type { StoredMessage } from '../../../domain/messages/message.ts';
import type { TopicRecord, TopicStats } from '../../../ports/messages/message-reads.ts';
import {
  messageColumns,
  prepareArrays,
  toChangeType,
  toMessage,
  topicIdOf,
  toShownMessage,
  type MessageRow,
  type TopicMessageRow,
} from './sqlite-message-rows.ts';
import { offsetAtTimeIn } from './sqlite-offset-at-time.ts';

/** The change is the last column. */
type ChangeRow = readonly [...TopicMessageRow, changeOffset: number, changeType: number, changeTimestamp: number];

const noMessages: TopicStats = { messageCount: 0, lastMessageAt: null };

export type SqliteMessageReads = ReturnType<typeof sqliteMessageReads>;

/** Reads of the message tables. All are synchronous and limited to a page. */
export function sqliteMessageReads(db: DatabaseSync) {
  const sql = prepareStatements(db);
  const offsetAtTime = offsetAtTimeIn(db);

  const topicOf = (topicId: string): number | undefined =>
    (sql.topicOf.get(topicId) as { topic: number } | undefined)?.topic;

  return {
    find(messageId: string): StoredMessage | null {
      const row = sql.find.get(messageId) as TopicMessageRow | undefined;
      return row === undefined ? null : toMessage(row, topicIdOf(row));
    },

    newest(topicId: string, page: { limit: number; now: number }): StoredMessage[] {
      const topic = topicOf(topicId);
      if (topic === undefined) return [];
      const rows = sql.newest.all(topic, page.now, page.limit) as unknown as MessageRow[];
      return rows.reverse().map((row) => toMessage(row, topicId));
    },

    after(topicId: string, page: { after: number; upTo: number; limit: number; now: number }): StoredMessage[] {
      const topic = topicOf(topicId);
      if (topic === undefined) return [];
      const rows = sql.after.all(topic, Math.max(page.after, -1), page.upTo, page.now, page.limit);
      return (rows as unknown as MessageRow[]).map((row) => toMessage(row, topicId));
    },

    records(topicId: string, page: { from: number; upTo: number; limit: number; now: number }): TopicRecord[] {
      const topic = topicOf(topicId);
      if (topic === undefined) return [];
      const range = [topic, Math.max(page.from, 0), page.upTo, page.now, page.limit] as const;
      const messages = (sql.messageRecords.all(...range) as unknown as MessageRow[]).map((row) =>
        messageRecord(row, topicId),
      );
      const changes = (sql.changeRecords.all(...range) as unknown as ChangeRow[]).map(changeRecord);
      return merge(messages, changes, page.limit);
    },

    /** Returns records of all topics from the offset, for the log. */
    readFrom(offset: number, limit: number): PlacedRecord[] {
      const range = [Math.max(offset, 0), limit] as const;
      const messages = (sql.messagesFrom.all(...range) as unknown as TopicMessageRow[]).map((row) =>
        messageRecord(row, topicIdOf(row)),
      );
      const changes = (sql.changesFrom.all(...range) as unknown as ChangeRow[]).map(changeRecord);
      return merge(messages, changes, limit).map(toPlaced);
    },

    /** Whether this record was already applied. */
    isStored({ offset, record }: PlacedRecord): boolean {
      if (record.type !== 'message') return sql.changeAt.get(offset) !== undefined;
      return (sql.idAt.get(offset) as { id: string } | undefined)?.id === record.message.id;
    },

    /** Returns the offset of the topic's previous record, or null. */
    previousOffset(topicId: string, offset: number): number | null {
      const topic = topicOf(topicId);
      if (topic === undefined) return null;
      return (sql.previous.get(topic, offset) as { offset: number | null }).offset;
    },

    offsetAtTime(topicId: string, time: number): number | null {
      const topic = topicOf(topicId);
      return topic === undefined ? null : offsetAtTime(topic, time);
    },

    lastOffset(topicId: string): number {
      return (sql.lastOffset.get(topicId) as { last_offset: number } | undefined)?.last_offset ?? -1;
    },

    /** Includes topics without messages. */
    topicStats(topicIds: readonly string[]): Map<string, TopicStats> {
      const stats = new Map<string, TopicStats>(topicIds.map((topicId) => [topicId, noMessages]));
      const rows = sql.statsOfTopics.all(JSON.stringify(topicIds)) as unknown as [string, number, number | null][];
      for (const [topicId, messageCount, lastMessageAt] of rows) stats.set(topicId, { messageCount, lastMessageAt });
      return stats;
    },
  };
}

function messageRecord(row: MessageRow | TopicMessageRow, topicId: string): TopicRecord {
  const message = toShownMessage(row, topicId);
  return { offset: message.offset, type: 'message', timestamp: message.timestamp, message };
}

function changeRecord(row: ChangeRow): TopicRecord {
  const type: RecordType = toChangeType(row[15]);
  const shown = row as unknown as TopicMessageRow;
  return { offset: row[14], type, timestamp: row[16], message: toShownMessage(shown, topicIdOf(shown)) };
}

/** The log record contains the message without its offset. */
function toPlaced({ offset, type, timestamp, message: { offset: _, ...message } }: TopicRecord): PlacedRecord {
  return { partition: 0, offset, record: { type, timestamp, message } };
}

/** Merges two lists in offset order. Changes are rare, so the second list is usually empty. */
function merge(messages: TopicRecord[], changes: TopicRecord[], limit: number): TopicRecord[] {
  if (changes.length === 0) return messages;
  return [...messages, ...changes].sort((a, b) => a.offset - b.offset).slice(0, limit);
}

function prepareStatements(db: DatabaseSync) {
  const visible = 'm.deleted_at IS NULL AND m.expires_at > ?';
  const change = `${messageColumns}, t.topic_id, c.offset, c.type, c.timestamp`;
  return {
    topicOf: db.prepare('SELECT topic FROM topic_stats WHERE topic_id = ?'),
    find: prepareArrays(
      db,
      `
      SELECT ${messageColumns}, t.topic_id FROM messages m JOIN topic_stats t ON t.topic = m.topic
      WHERE m.id = ? AND m.offset >= 0`,
    ),
    newest: prepareArrays(
      db,
      `
      SELECT ${messageColumns} FROM messages m WHERE m.topic = ? AND m.offset >= 0 AND ${visible}
      ORDER BY m.offset DESC LIMIT ?`,
    ),
    after: prepareArrays(
      db,
      `
      SELECT ${messageColumns} FROM messages m WHERE m.topic = ? AND m.offset > ? AND m.offset <= ? AND ${visible}
      ORDER BY m.offset LIMIT ?`,
    ),
    messageRecords: prepareArrays(
      db,
      `
      SELECT ${messageColumns} FROM messages m WHERE m.topic = ? AND m.offset >= ? AND m.offset <= ? AND m.expires_at > ?
      ORDER BY m.offset LIMIT ?`,
    ),
    changeRecords: prepareArrays(
      db,
      `
      SELECT ${change} FROM message_changes c JOIN messages m ON m.id = c.message_id JOIN topic_stats t ON t.topic = m.topic
      WHERE c.topic = ? AND c.offset >= ? AND c.offset <= ? AND m.offset >= 0 AND m.expires_at > ?
      ORDER BY c.offset LIMIT ?`,
    ),
    messagesFrom: prepareArrays(
      db,
      `
      SELECT ${messageColumns}, t.topic_id FROM messages m JOIN topic_stats t ON t.topic = m.topic
      WHERE m.offset >= ? ORDER BY m.offset LIMIT ?`,
    ),
    changesFrom: prepareArrays(
      db,
      `
      SELECT ${change} FROM message_changes c JOIN messages m ON m.id = c.message_id
      JOIN topic_stats t ON t.topic = m.topic WHERE c.offset >= ? ORDER BY c.offset LIMIT ?`,
    ),
    idAt: db.prepare('SELECT id FROM messages WHERE offset = ?'),
    changeAt: db.prepare('SELECT 1 FROM message_changes WHERE offset = ?'),
    previous: db.prepare(`
      SELECT nullif(max(
        coalesce((SELECT max(offset) FROM messages WHERE topic = ?1 AND offset >= 0 AND offset < ?2), -1),
        coalesce((SELECT max(offset) FROM message_changes WHERE topic = ?1 AND offset < ?2), -1)), -1) AS offset`),
    lastOffset: db.prepare('SELECT last_offset FROM topic_stats WHERE topic_id = ?'),
    // One statement for all topics: a statement per topic takes five times as long.
    statsOfTopics: prepareArrays(
      db,
      `
      SELECT s.topic_id, s.message_count, s.last_message_at FROM json_each(?) asked CROSS JOIN topic_stats s ON s.topic_id = asked.value`,
    ),
  };
}
