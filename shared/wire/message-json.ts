import type { LogRecord } from '../domain/messages/log-record.ts';
import type { Message, Priority, StoredMessage } from '../domain/messages/message.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';

export { toIso };

/** The message object of the interface: the same in answers, events, frames, log records and Kafka values. */
export interface MessageJson {
  id: string;
  topic_id: string;
  topic: string;
  message: string;
  title: string | null;
  priority: number;
  tags: readonly string[];
  timestamp: string;
  expires_at: string;
  /** Absent in the Kafka value, where the record itself has it. */
  offset?: number;
  markdown: boolean;
  is_deleted: boolean;
  is_edited: boolean;
  deleted_at: string | null;
  edited_at: string | null;
}

/** The message object as the interface shows it; `topicName` is the topic's current name. */
export function toMessageJson(message: Message | StoredMessage, topicName: string): MessageJson {
  return {
    id: message.id,
    topic_id: message.topicId,
    topic: topicName,
    message: message.message,
    title: message.title,
    priority: message.priority,
    tags: message.tags,
    timestamp: toIso(message.timestamp),
    expires_at: toIso(message.expiresAt),
    ...('offset' in message ? { offset: message.offset } : {}),
    markdown: message.markdown,
    is_deleted: message.isDeleted,
    is_edited: message.isEdited,
    deleted_at: isoOrNull(message.deletedAt),
    edited_at: isoOrNull(message.editedAt),
  };
}

/**
 * Reads the value of a record on the Kafka topic (a message object without `offset`) back. Throws a TypeError that names
 * the field when it is not one: whoever writes foreign records into the log must not be able to bring a consumer to a
 * wrong state.
 */
export function fromRecordValue(type: LogRecord['type'], timestamp: number, value: unknown): LogRecord {
  if (typeof value !== 'object' || value === null) throw new TypeError('not a message object');
  const json = value as { readonly [field in keyof MessageJson]?: unknown };
  const message: Message = {
    id: expected('id', json.id, isText),
    topicId: expected('topic_id', json.topic_id, isText),
    message: expected('message', json.message, isText),
    title: json.title === null ? null : expected('title', json.title, isText),
    priority: expected('priority', json.priority, isPriority),
    tags: expected('tags', json.tags, isTags),
    timestamp: time('timestamp', json.timestamp),
    expiresAt: time('expires_at', json.expires_at),
    markdown: expected('markdown', json.markdown, isBoolean),
    isDeleted: expected('is_deleted', json.is_deleted, isBoolean),
    isEdited: expected('is_edited', json.is_edited, isBoolean),
    deletedAt: json.deleted_at === null ? null : time('deleted_at', json.deleted_at),
    editedAt: json.edited_at === null ? null : time('edited_at', json.edited_at),
  };
  return { type, timestamp, message };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isPriority = (value: unknown): value is Priority =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 5;
const isTags = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

function expected<T>(field: string, value: unknown, is: (value: unknown) => value is T): T {
  if (!is(value)) throw new TypeError(`not a message object: ${field}`);
  return value;
}

function time(field: string, value: unknown): number {
  const timeMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (!Number.isFinite(timeMs)) throw new TypeError(`not a message object: ${field}`);
  return timeMs;
}
