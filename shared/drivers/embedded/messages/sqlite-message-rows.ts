import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { recordTypes, type RecordType } from '../../../domain/messages/log-record.ts';
import { redacted, type Message, type Priority, type StoredMessage } from '../../../domain/messages/message.ts';
import { parseStoredMessage } from '../../../domain/messages/parse-stored-message.ts';

/**
 * The columns of a `messages` row that form a message, in the order of `messageColumns`; additional columns of a query
 * follow. An array, because object rows take three times as long (measured).
 */
export type MessageRow = readonly [
  offset: number,
  id: string,
  message: string,
  title: string | null,
  priority: number,
  tags: string | null,
  timestamp: number,
  expiresAt: number,
  markdown: number,
  editedAt: number | null,
  deletedAt: number | null,
  extras: string | null,
  publishedBy: string | null,
];

/** The columns of a MessageRow; `m` is the alias of `messages` in the query. */
export const messageColumns = `m.offset, m.id, m.message, m.title, m.priority, m.tags, m.timestamp, m.expires_at,
  m.markdown, m.edited_at, m.deleted_at, m.extras, m.published_by`;

/** A row of `${messageColumns}, t.topic_id`. */
export type TopicMessageRow = readonly [...MessageRow, topicId: string];

/** The ID of the message's topic. */
export const topicIdOf = (row: TopicMessageRow): string => row[13];

/** Compiles a statement with array rows. */
export function prepareArrays(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

const noTags: readonly string[] = Object.freeze([]);

/** Returns the row's message with its text, even if deleted. */
export function toMessage(row: readonly [...MessageRow, ...unknown[]], topicId: string): StoredMessage {
  const tags = row[5];
  return parseStoredMessage({
    id: row[1],
    topicId,
    message: row[2],
    title: row[3],
    priority: row[4] as Priority,
    tags: tags === null ? noTags : (JSON.parse(tags) as string[]),
    timestamp: row[6],
    expiresAt: row[7],
    markdown: row[8] === 1,
    editedAt: row[9],
    deletedAt: row[10],
    extras: row[11],
    publishedBy: row[12],
    offset: row[0],
  });
}

/** Returns the message as visible to everyone: redacted if deleted. */
export function toShownMessage(row: MessageRow | TopicMessageRow, topicId: string): StoredMessage {
  const message = toMessage(row, topicId);
  return message.deletedAt === null ? message : redacted(message, message.deletedAt);
}

/** Returns the stored form of tags: JSON, or null without tags. */
export function storedTags(message: Message): string | null {
  return message.tags.length === 0 ? null : JSON.stringify(message.tags);
}

/** The number of the type in `message_changes`. */
export function storedChangeType(type: RecordType): number {
  return recordTypes.indexOf(type);
}

export function toChangeType(stored: number): Exclude<RecordType, 'message'> {
  return recordTypes[stored] as Exclude<RecordType, 'message'>;
}
