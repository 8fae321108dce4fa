import type { RecordType } from '../../domain/log-record.ts';
import { emptied, type Message, type Priority, type StoredMessage } from '../../domain/message.ts';

/** A row of `messages`, as far as a message is made from it. */
export interface MessageRow {
  readonly offset: number;
  readonly id: string;
  readonly message: string;
  readonly title: string | null;
  readonly priority: number;
  readonly tags: string | null;
  readonly timestamp: number;
  readonly expires_at: number;
  readonly markdown: number;
  readonly edited_at: number | null;
  readonly deleted_at: number | null;
}

/** The columns of a MessageRow; `m` is the alias of `messages` in the query. */
export const messageColumns = `m.offset, m.id, m.message, m.title, m.priority, m.tags, m.timestamp, m.expires_at,
  m.markdown, m.edited_at, m.deleted_at`;

const noTags: readonly string[] = Object.freeze([]);

/** The message of the row, with its text also when it is deleted. */
export function toMessage(row: MessageRow, topicId: string): StoredMessage {
  return {
    id: row.id,
    topicId,
    message: row.message,
    title: row.title,
    priority: row.priority as Priority,
    tags: row.tags === null ? noTags : (JSON.parse(row.tags) as string[]),
    timestamp: row.timestamp,
    expiresAt: row.expires_at,
    markdown: row.markdown === 1,
    isDeleted: row.deleted_at !== null,
    isEdited: row.edited_at !== null,
    deletedAt: row.deleted_at,
    editedAt: row.edited_at,
    offset: row.offset,
  };
}

/** The message as everyone may see it: emptied when it is deleted. */
export function toShownMessage(row: MessageRow, topicId: string): StoredMessage {
  const message = toMessage(row, topicId);
  return message.deletedAt === null ? message : emptied(message, message.deletedAt);
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
