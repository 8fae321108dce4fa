import type { DatabaseSync } from 'node:sqlite';
import type { LogRecord, PlacedRecord } from '../../../domain/messages/log-record.ts';
import { storedActor } from '../../../domain/messages/actor.ts';
import { storedExtras } from '../../../domain/messages/message-extras.ts';
import type { Message } from '../../../domain/messages/message.ts';
import type { Clock } from '../../../platform/clock.ts';
import { storedChangeType, storedTags } from './sqlite-message-rows.ts';
import { asPublished, stubRev } from './sqlite-message-schema.ts';

/** Writes to the message tables. All calls are synchronous and must run inside a write of the SQLite file. */
export interface SqliteMessageWriter {
  /** Applies the records by the order-free rule below. Returns whether each record was stored as a new message. */
  apply(records: readonly PlacedRecord[]): boolean;
  /** The offset after the highest one ever assigned. */
  end(): number;
}

/** The effect of a call of `apply` on one topic. */
interface TopicChange {
  key: number;
  messages: number;
  lastMessageAt: number | null;
  lastOffset: number;
  /** The correction of the count written in advance: duplicates and deletions. */
  correction: number;
}

interface StoredState {
  readonly offset: number;
  readonly content_rev: number;
  readonly deleted_at: number | null;
}

type Statements = ReturnType<typeof prepareStatements>;

/**
 * Applies records to messages, independent of their order. A message's offset, times and published content are those of
 * its `message` record with the lowest offset. Its content is that of the change with the highest offset, or the
 * published content. It is deleted if any deletion was applied, at the earliest time of these: a deletion is final,
 * even against a concurrent edit. A record of an expired message only updates the topic's last offset and time, so a
 * replay of the log does not restore removed messages.
 */
export function sqliteMessageWriter(db: DatabaseSync, clock: Clock): SqliteMessageWriter {
  const sql = prepareStatements(db);
  return {
    end: () => (sql.end.get() as { position: number }).position,
    apply(records) {
      const now = clock();
      const topics = countByTopic(sql, records);
      let areNew = true;
      for (const placed of records) {
        const topic = topics.get(placed.record.message.topicId)!;
        const countedAhead = placed.record.type === 'message' ? 1 : 0;
        const added = applyRecord(sql, topic.key, placed, now);
        topic.correction += added - countedAhead;
        areNew &&= added === 1;
      }
      for (const topic of topics.values()) {
        if (topic.correction !== 0) sql.addToCount.run(topic.correction, topic.key);
      }
      return areNew;
    },
  };
}

/**
 * Finds the topics' numbers and updates their counters by one statement per topic, as if every message were new, which
 * is nearly always true.
 */
function countByTopic(sql: Statements, records: readonly PlacedRecord[]): Map<string, TopicChange> {
  const topics = new Map<string, TopicChange>();
  for (const { offset, record } of records) {
    let topic = topics.get(record.message.topicId);
    if (topic === undefined) {
      topic = { key: 0, messages: 0, lastMessageAt: null, lastOffset: offset, correction: 0 };
      topics.set(record.message.topicId, topic);
    }
    if (offset > topic.lastOffset) topic.lastOffset = offset;
    if (record.type !== 'message') continue;
    topic.messages += 1;
    topic.lastMessageAt = Math.max(topic.lastMessageAt ?? record.timestamp, record.timestamp);
  }
  for (const [topicId, topic] of topics) {
    const row = sql.touchTopic.get(topicId, topic.messages, topic.lastMessageAt, topic.lastOffset);
    topic.key = (row as { topic: number }).topic;
  }
  return topics;
}

/** Like the three functions below, returns the record's contribution to its topic's count. */
function applyRecord(sql: Statements, topic: number, { offset, record }: PlacedRecord, now: number): number {
  if (record.message.expiresAt <= now) {
    storeEnd(sql, offset);
    return 0;
  }
  return record.type === 'message'
    ? applyMessage(sql, topic, offset, record.message)
    : applyChange(sql, topic, offset, record);
}

function applyMessage(sql: Statements, topic: number, offset: number, message: Message): number {
  const { editedAt } = message;
  const isNew = insertMessage(sql, topic, message, { offset, contentRev: asPublished, editedAt, deletedAt: null });
  return isNew ? 1 : mergeIntoStored(sql, offset, message);
}

/** Returns false if a row with the ID or the offset exists. */
function insertMessage(
  sql: Statements,
  topic: number,
  message: Message,
  state: { offset: number; contentRev: number; editedAt: number | null; deletedAt: number | null },
): boolean {
  const { changes } = sql.insertMessage.run(
    state.offset,
    message.id,
    topic,
    message.message,
    message.title,
    message.priority,
    storedTags(message),
    message.timestamp,
    message.expiresAt,
    message.markdown ? 1 : 0,
    state.contentRev,
    state.editedAt,
    state.deletedAt,
    storedExtras(message),
    storedPublisher(message),
  );
  return changes === 1;
}

/** Applies a message record whose message row exists: a repeated record, a duplicate, or the message of a stub. */
function mergeIntoStored(sql: Statements, offset: number, message: Message): number {
  const stored = sql.stateOf.get(message.id) as StoredState | undefined;
  if (stored === undefined)
    throw new Error(`offset ${offset} of the log contains a different message than ${message.id}`);
  storeEnd(sql, Math.max(offset, stored.offset));
  if (stored.offset >= 0 && stored.offset <= offset) return 0;
  if (stored.content_rev <= asPublished) setContent(sql, message, asPublished);
  sql.move.run(offset, message.timestamp, message.expiresAt, storedPublisher(message), message.id);
  return stored.offset < 0 && stored.deleted_at === null ? 1 : 0;
}

function applyChange(sql: Statements, topic: number, offset: number, record: LogRecord): number {
  const { message, type, timestamp } = record;
  const isNew = sql.insertChange.run(offset, storedChangeType(type), topic, message.id, timestamp).changes === 1;
  if (!isNew) return 0;
  const stored = sql.stateOf.get(message.id) as StoredState | undefined;
  if (stored === undefined) {
    insertStub(sql, topic, offset, record);
    return 0;
  }
  if (type !== 'message_deleted') {
    if (stored.content_rev < offset) setContent(sql, message, offset);
    return 0;
  }
  sql.deleteMessage.run(message.deletedAt ?? timestamp, message.id);
  return stored.offset >= 0 && stored.deleted_at === null ? -1 : 0;
}

function insertStub(sql: Statements, topic: number, offset: number, { type, timestamp, message }: LogRecord): void {
  const hasContent = type !== 'message_deleted';
  insertMessage(sql, topic, message, {
    offset: -1 - offset,
    contentRev: hasContent ? offset : stubRev,
    editedAt: hasContent ? message.editedAt : null,
    deletedAt: hasContent ? null : (message.deletedAt ?? timestamp),
  });
}

const storedPublisher = ({ publishedBy }: Message): string | null =>
  publishedBy === null ? null : storedActor(publishedBy);

function setContent(sql: Statements, message: Message, contentRev: number): void {
  sql.setContent.run(
    message.message,
    message.title,
    message.priority,
    storedTags(message),
    message.markdown ? 1 : 0,
    message.editedAt,
    storedExtras(message),
    contentRev,
    message.id,
  );
}

/** Stores the end of the log if no row exists at its last offset. */
function storeEnd(sql: Statements, offset: number): void {
  sql.storeEnd.run(offset + 1);
}

function prepareStatements(db: DatabaseSync) {
  return {
    touchTopic: db.prepare(`
      INSERT INTO topic_stats (topic_id, message_count, last_message_at, last_offset) VALUES (?, ?, ?, ?)
      ON CONFLICT (topic_id) DO UPDATE SET
        message_count = message_count + excluded.message_count,
        last_message_at = coalesce(max(last_message_at, excluded.last_message_at), last_message_at, excluded.last_message_at),
        last_offset = max(last_offset, excluded.last_offset)
      RETURNING topic`),
    addToCount: db.prepare('UPDATE topic_stats SET message_count = message_count + ? WHERE topic = ?'),
    insertMessage: db.prepare(
      'INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    insertChange: db.prepare('INSERT INTO message_changes VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING'),
    stateOf: db.prepare('SELECT offset, content_rev, deleted_at FROM messages WHERE id = ?'),
    move: db.prepare('UPDATE messages SET offset = ?, timestamp = ?, expires_at = ?, published_by = ? WHERE id = ?'),
    setContent: db.prepare(`
      UPDATE messages SET message = ?, title = ?, priority = ?, tags = ?, markdown = ?, edited_at = ?, extras = ?,
        content_rev = ?
      WHERE id = ?`),
    deleteMessage: db.prepare('UPDATE messages SET deleted_at = min(?1, coalesce(deleted_at, ?1)) WHERE id = ?2'),
    end: db.prepare(`
      SELECT max((SELECT position FROM log_end), coalesce((SELECT max(offset) FROM messages), -1) + 1,
        coalesce((SELECT max(offset) FROM message_changes), -1) + 1) AS position`),
    storeEnd: db.prepare('UPDATE log_end SET position = max(position, ?)'),
  };
}
