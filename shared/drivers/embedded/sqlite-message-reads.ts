import type { DatabaseSync } from 'node:sqlite';
import type { PlacedRecord, RecordType } from '../../domain/log-record.ts';
import type { StoredMessage } from '../../domain/message.ts';
import type { TopicMark, TopicRecord, TopicStats } from '../../ports/messages.ts';
import { messageColumns, toChangeType, toMessage, toShownMessage, type MessageRow } from './sqlite-message-rows.ts';
import { offsetAtTimeIn, skewMs } from './sqlite-offset-at-time.ts';

interface ChangeRow extends MessageRow {
  readonly change_offset: number;
  readonly change_type: number;
  readonly change_timestamp: number;
}

/** Messages looked at one by one before a time is searched for. */
const newestTimesMax = 64;

interface ShownTime {
  readonly timestamp: number;
  readonly isShown: number;
}

type WithTopicId = { readonly topic_id: string };

export type SqliteMessageReads = ReturnType<typeof sqliteMessageReads>;

/** The reads of the messages' tables, all synchronous, none longer than a page. */
export function sqliteMessageReads(db: DatabaseSync) {
  const sql = prepareStatements(db);
  const offsetAtTime = offsetAtTimeIn(db);

  const topicOf = (topicId: string): number | undefined =>
    (sql.topicOf.get(topicId) as { topic: number } | undefined)?.topic;

  return {
    find(messageId: string): StoredMessage | null {
      const row = sql.find.get(messageId) as (MessageRow & WithTopicId) | undefined;
      return row === undefined ? null : toMessage(row, row.topic_id);
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
      const messages = (sql.messageRecords.all(...range) as unknown as MessageRow[]).map((row) => messageRecord(row, topicId));
      const changes = (sql.changeRecords.all(...range) as unknown as ChangeRow[]).map((row) => changeRecord(row, topicId));
      return merge(messages, changes, page.limit);
    },

    /** Records of all topics from the position on, as the log reads them. */
    readFrom(offset: number, limit: number): PlacedRecord[] {
      const range = [Math.max(offset, 0), limit] as const;
      const messages = (sql.messagesFrom.all(...range) as unknown as (MessageRow & WithTopicId)[])
        .map((row) => messageRecord(row, row.topic_id));
      const changes = (sql.changesFrom.all(...range) as unknown as (ChangeRow & WithTopicId)[])
        .map((row) => changeRecord(row, row.topic_id));
      return merge(messages, changes, limit).map(toPlaced);
    },

    /** Whether this record's work is done. */
    isStored({ offset, record }: PlacedRecord): boolean {
      if (record.type !== 'message') return sql.changeAt.get(offset) !== undefined;
      return (sql.idAt.get(offset) as { id: string } | undefined)?.id === record.message.id;
    },

    /** Position of the topic's last record before this one, or null. */
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
      return (sql.stats.get(topicId) as { last_offset: number } | undefined)?.last_offset ?? -1;
    },

    countAfter({ topicId, after }: TopicMark, page: { max: number; now: number }): number {
      const topic = topicOf(topicId);
      if (topic === undefined) return 0;
      const fewAfter = countFewAfter(sql.newestTimes.all(page.now, topic, newestTimesMax) as unknown as ShownTime[], after);
      if (fewAfter !== null) return Math.min(page.max, fewAfter);
      const from = offsetAtTime(topic, after + 1);
      if (from === null) return 0;
      return (sql.countAfter.get(topic, from, after, page.now, page.max) as { count: number }).count;
    },

    topicStats(topicId: string): TopicStats {
      const row = sql.stats.get(topicId) as { message_count: number; last_message_at: number | null } | undefined;
      return { messageCount: row?.message_count ?? 0, lastMessageAt: row?.last_message_at ?? null };
    },
  };
}

/**
 * Mostly a mark lies among the newest messages: then there is no need to find where in the topic it is. Null when it may lie
 * below all of these.
 */
function countFewAfter(newest: readonly ShownTime[], after: number): number | null {
  if (newest.length === newestTimesMax && newest.at(-1)!.timestamp >= after - skewMs) return null;
  return newest.filter(({ timestamp, isShown }) => isShown === 1 && timestamp > after).length;
}

function messageRecord(row: MessageRow, topicId: string): TopicRecord {
  return { offset: row.offset, type: 'message', timestamp: row.timestamp, message: toShownMessage(row, topicId) };
}

function changeRecord(row: ChangeRow, topicId: string): TopicRecord {
  const type: RecordType = toChangeType(row.change_type);
  return { offset: row.change_offset, type, timestamp: row.change_timestamp, message: toShownMessage(row, topicId) };
}

/** The log's record carries the message without its position. */
function toPlaced({ offset, type, timestamp, message: { offset: _, ...message } }: TopicRecord): PlacedRecord {
  return { partition: 0, offset, record: { type, timestamp, message } };
}

/** Two lists in order of position as one; edits and deletions are few, so mostly there is nothing to merge. */
function merge(messages: TopicRecord[], changes: TopicRecord[], limit: number): TopicRecord[] {
  if (changes.length === 0) return messages;
  return [...messages, ...changes].sort((a, b) => a.offset - b.offset).slice(0, limit);
}

function prepareStatements(db: DatabaseSync) {
  const visible = 'm.deleted_at IS NULL AND m.expires_at > ?';
  const change = `c.offset AS change_offset, c.type AS change_type, c.timestamp AS change_timestamp, ${messageColumns}`;
  return {
    topicOf: db.prepare('SELECT topic FROM topic_stats WHERE topic_id = ?'),
    find: db.prepare(`
      SELECT ${messageColumns}, t.topic_id FROM messages m JOIN topic_stats t ON t.topic = m.topic
      WHERE m.id = ? AND m.offset >= 0`),
    newest: db.prepare(`
      SELECT ${messageColumns} FROM messages m WHERE m.topic = ? AND m.offset >= 0 AND ${visible}
      ORDER BY m.offset DESC LIMIT ?`),
    after: db.prepare(`
      SELECT ${messageColumns} FROM messages m WHERE m.topic = ? AND m.offset > ? AND m.offset <= ? AND ${visible}
      ORDER BY m.offset LIMIT ?`),
    newestTimes: db.prepare(`
      SELECT m.timestamp, (${visible}) AS isShown FROM messages m WHERE m.topic = ? AND m.offset >= 0 ORDER BY m.offset DESC LIMIT ?`),
    countAfter: db.prepare(`
      SELECT count(*) AS count FROM (
        SELECT 1 FROM messages m WHERE m.topic = ? AND m.offset >= ? AND m.timestamp > ? AND ${visible} ORDER BY m.offset LIMIT ?)`),
    messageRecords: db.prepare(`
      SELECT ${messageColumns} FROM messages m WHERE m.topic = ? AND m.offset >= ? AND m.offset <= ? AND m.expires_at > ?
      ORDER BY m.offset LIMIT ?`),
    changeRecords: db.prepare(`
      SELECT ${change} FROM message_changes c JOIN messages m ON m.id = c.message_id
      WHERE c.topic = ? AND c.offset >= ? AND c.offset <= ? AND m.offset >= 0 AND m.expires_at > ?
      ORDER BY c.offset LIMIT ?`),
    messagesFrom: db.prepare(`
      SELECT ${messageColumns}, t.topic_id FROM messages m JOIN topic_stats t ON t.topic = m.topic
      WHERE m.offset >= ? ORDER BY m.offset LIMIT ?`),
    changesFrom: db.prepare(`
      SELECT ${change}, t.topic_id FROM message_changes c JOIN messages m ON m.id = c.message_id
      JOIN topic_stats t ON t.topic = m.topic WHERE c.offset >= ? ORDER BY c.offset LIMIT ?`),
    idAt: db.prepare('SELECT id FROM messages WHERE offset = ?'),
    changeAt: db.prepare('SELECT 1 FROM message_changes WHERE offset = ?'),
    previous: db.prepare(`
      SELECT nullif(max(
        coalesce((SELECT max(offset) FROM messages WHERE topic = ?1 AND offset >= 0 AND offset < ?2), -1),
        coalesce((SELECT max(offset) FROM message_changes WHERE topic = ?1 AND offset < ?2), -1)), -1) AS offset`),
    stats: db.prepare('SELECT message_count, last_message_at, last_offset FROM topic_stats WHERE topic_id = ?'),
  };
}
