import { z } from 'zod';
import type { LogRecord } from '../domain/messages/log-record.ts';
import type { Message, Priority, StoredMessage } from '../domain/messages/message.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';

const example = {
  id: '01a1fdd3-3358-7000-9bff-f8f39a0bcf16',
  topic_id: '01a1fdd3-333c-7000-910f-bfdecfddb00d',
  topic: 'backups',
  message: 'Nightly backup finished',
  title: 'Backups',
  priority: 3,
  tags: ['db', 'ok'],
  timestamp: '2026-11-21T11:17:19.320Z',
  expires_at: '2026-11-28T11:17:19.320Z',
  offset: 0,
  markdown: false,
  is_deleted: false,
  is_edited: false,
  deleted_at: null,
  edited_at: null,
};

/** A message, identical in responses, events, frames and log records. Every key is always present. */
export const messageSchema = z
  .object({
    id: z.uuid().describe('UUIDv7. IDs sort by time.'),
    topic_id: z.uuid(),
    topic: z.string(),
    message: z.string().describe('The text exactly as it was sent. Empty if the message is deleted.'),
    title: z.string().nullable(),
    priority: z.int().min(1).max(5),
    tags: z.array(z.string()),
    timestamp: z.iso.datetime(),
    expires_at: z.iso.datetime().describe('After this time the message is no longer returned.'),
    offset: z.int().describe('Offset in the log. Offsets only grow within a topic and have gaps.'),
    markdown: z.boolean().describe('Whether the publisher marked the text as Markdown.'),
    is_deleted: z.boolean(),
    is_edited: z.boolean(),
    deleted_at: z.iso.datetime().nullable(),
    edited_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Message', examples: [example] });

type SchemaJson = z.infer<typeof messageSchema>;

/** `tags` is read-only, so that the writer, which runs for each delivery, need not copy the list. */
export type MessageJson = Omit<SchemaJson, 'tags'> & { readonly tags: readonly string[] };

/**
 * Returns the message object with the topic's current name. The value of a Kafka record has no `offset`, because Kafka
 * assigns it.
 */
export function toMessageJson(message: StoredMessage, topicName: string): MessageJson;
export function toMessageJson(message: Message, topicName: string): Omit<MessageJson, 'offset'>;
export function toMessageJson(message: Message | StoredMessage, topicName: string): Omit<MessageJson, 'offset'> {
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
 * Parses the value of a Kafka record, which is a message object without `offset`. Throws a TypeError that names the
 * invalid field, so that a foreign record in the log cannot corrupt the state of a consumer.
 */
export function parseRecordValue(type: LogRecord['type'], timestamp: number, value: unknown): LogRecord {
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
