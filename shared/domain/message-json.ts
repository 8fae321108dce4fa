import type { LogRecord } from './log-record.ts';
import type { Message, Priority, StoredMessage } from './message.ts';

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

/** RFC 3339 in UTC with milliseconds and `Z`. */
export function toIso(timeMs: number): string {
  return new Date(timeMs).toISOString();
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
    deleted_at: message.deletedAt === null ? null : toIso(message.deletedAt),
    edited_at: message.editedAt === null ? null : toIso(message.editedAt),
  };
}

/**
 * Reads the value of a record on the Kafka topic (a message object without `offset`) back. Throws a TypeError when it is not a message object: whoever writes foreign
 * records into the log must not be able to bring a consumer to a wrong state.
 */
export function fromRecordValue(type: LogRecord['type'], timestamp: number, value: unknown): LogRecord {
  const json = value as MessageJson;
  if (typeof json !== 'object' || json === null || typeof json.id !== 'string' || typeof json.topic_id !== 'string'
    || typeof json.message !== 'string' || !Array.isArray(json.tags)) {
    throw new TypeError('not a message object');
  }
  return {
    type,
    timestamp,
    message: {
      id: json.id,
      topicId: json.topic_id,
      message: json.message,
      title: json.title,
      priority: json.priority as Priority,
      tags: json.tags,
      timestamp: Date.parse(json.timestamp),
      expiresAt: Date.parse(json.expires_at),
      markdown: json.markdown,
      isDeleted: json.is_deleted,
      isEdited: json.is_edited,
      deletedAt: json.deleted_at === null ? null : Date.parse(json.deleted_at),
      editedAt: json.edited_at === null ? null : Date.parse(json.edited_at),
    },
  };
}
