import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { RecordType } from '../../../domain/messages/log-record.ts';
import { redacted, type Message, type Priority, type StoredMessage } from '../../../domain/messages/message.ts';

/**
 * A row of `messages`, as far as a message is made from it, in the order of `messageColumns`. An array, because rows that come as
 * objects take three times as long to make and to read (measured); what a query adds follows.
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
];

/** The columns of a MessageRow; `m` is the alias of `messages` in the query. */
export const messageColumns = `m.offset, m.id, m.message, m.title, m.priority, m.tags, m.timestamp, m.expires_at,
  m.markdown, m.edited_at, m.deleted_at`;

/** A row of `${messageColumns}, t.topic_id`. */
export type TopicMessageRow = readonly [...MessageRow, topicId: string];

/** The id of the topic that the message is in. */
export const topicIdOf = (row: TopicMessageRow): string => row[11];

/** Compiles a statement whose rows come as arrays. */
export function prepareArrays(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

const noTags: readonly string[] = Object.freeze([]);

/** The message of the row, with its text also when it is deleted. */
export function toMessage(row: MessageRow | TopicMessageRow, topicId: string): StoredMessage {
  const tags = row[5];
  const editedAt = row[9];
  const deletedAt = row[10];
  return {
    id: row[1],
    topicId,
    message: row[2],
    title: row[3],
    priority: row[4] as Priority,
    tags: tags === null ? noTags : (JSON.parse(tags) as string[]),
    timestamp: row[6],
    expiresAt: row[7],
    markdown: row[8] === 1,
    isDeleted: deletedAt !== null,
    isEdited: editedAt !== null,
    deletedAt,
    editedAt,
    offset: row[0],
  };
}

/** The message as everyone may see it: emptied when it is deleted. */
export function toShownMessage(row: MessageRow | TopicMessageRow, topicId: string): StoredMessage {
  const message = toMessage(row, topicId);
  return message.deletedAt === null ? message : redacted(message, message.deletedAt);
}

/** Tags as they are stored: JSON, or null for none, which most messages have. */
export function storedTags(message: Message): string | null {
  return message.tags.length === 0 ? null : JSON.stringify(message.tags);
}

const changeTypes = { message: 0, message_edited: 1, message_deleted: 2 } as const;

/** The number that stands for the type in `message_changes`. */
export function storedChangeType(type: RecordType): number {
  return changeTypes[type];
}

export function toChangeType(stored: number): RecordType {
  return stored === changeTypes.message_edited ? 'message_edited' : 'message_deleted';
}
