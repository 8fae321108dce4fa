import { z } from 'zod';
import { actorKinds, type Actor } from '../domain/messages/actor.ts';
import type { LogRecord } from '../domain/messages/log-record.ts';
import { httpActionMethods, type MessageAction, type MessageExtras } from '../domain/messages/message-extras.ts';
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
  click: 'https://status.example.com/backups',
  actions: [{ action: 'view', label: 'Report', url: 'https://status.example.com/backups/1204', clear: false }],
  icon_url: null,
  silent: false,
  requires_ack: false,
  acknowledged_at: null,
  acknowledged_by: null,
  published_by: { kind: 'api_key', name: 'backup job' },
};

export const actorSchema = z
  .object({ kind: z.enum(actorKinds), name: z.string().nullable() })
  .meta({ id: 'Actor', description: 'The username, or the name of the API key or topic token.' });

const actionSchema = z
  .discriminatedUnion('action', [
    z.object({ action: z.literal('view'), label: z.string(), url: z.url(), clear: z.boolean() }),
    z.object({
      action: z.literal('http'),
      label: z.string(),
      url: z.url(),
      method: z.enum(httpActionMethods),
      headers: z.record(z.string(), z.string()),
      body: z.string().nullable(),
      clear: z.boolean(),
    }),
    z.object({ action: z.literal('ack'), label: z.string() }),
  ])
  .meta({ id: 'MessageAction' });

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
    click: z.string().nullable().describe('The URL that a tap on the message opens.'),
    actions: z.array(actionSchema).max(3).describe('Buttons of the message.'),
    icon_url: z.string().nullable().describe('The server never fetches it.'),
    silent: z.boolean().describe('Pushed without sound, vibration or banner.'),
    requires_ack: z.boolean().describe('Whether pushes repeat until the message is acknowledged.'),
    acknowledged_at: z.iso.datetime().nullable(),
    acknowledged_by: actorSchema.nullable(),
    published_by: actorSchema.nullable().describe('Null for callers who do not manage the topic.'),
  })
  .meta({ id: 'Message', examples: [example] });

type SchemaJson = z.infer<typeof messageSchema>;

/** The lists are read-only, so that the writer, which runs for each delivery, need not copy them. */
export type MessageJson = Omit<SchemaJson, 'tags' | 'actions' | 'acknowledged_by' | 'published_by'> & {
  readonly tags: readonly string[];
  readonly actions: readonly MessageAction[];
  readonly acknowledged_by: ActorJson | null;
  readonly published_by: ActorJson | null;
};

export type ActorJson = z.infer<typeof actorSchema>;

/** `manager`: with `published_by`, for callers who manage the topic. */
export type MessageView = 'reader' | 'manager';

/**
 * Returns the message object with the topic's current name. The `offset` of a message that the log has not assigned is
 * undefined. The object is one literal, because a spread makes it several times as expensive to create and to write.
 */
export function toMessageJson(message: StoredMessage, topicName: string, view: MessageView): MessageJson;
export function toMessageJson(message: Message, topicName: string, view: MessageView): Omit<MessageJson, 'offset'>;
export function toMessageJson(
  message: Message | StoredMessage,
  topicName: string,
  view: MessageView,
): Omit<MessageJson, 'offset'> & { readonly offset: number | undefined } {
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
    offset: 'offset' in message ? message.offset : undefined,
    markdown: message.markdown,
    is_deleted: message.isDeleted,
    is_edited: message.isEdited,
    deleted_at: isoOrNull(message.deletedAt),
    edited_at: isoOrNull(message.editedAt),
    click: message.click,
    actions: message.actions,
    icon_url: message.iconUrl,
    silent: message.isSilent,
    requires_ack: message.requiresAck,
    acknowledged_at: isoOrNull(message.acknowledgement?.at ?? null),
    acknowledged_by: message.acknowledgement === null ? null : toActorJson(message.acknowledgement.by),
    published_by: view === 'manager' && message.publishedBy !== null ? toActorJson(message.publishedBy) : null,
  };
}

/** Returns the actor without the ID of its account. */
export const toActorJson = ({ kind, name }: Actor): ActorJson => ({ kind, name });

/**
 * Returns the value of a Kafka record: the message object without its offset, and what the store needs beyond it, if it
 * is not null. `JSON.stringify` omits the others, which are undefined.
 */
export function toRecordValue(message: Message, topicName: string): object {
  const { acknowledgement, publishedBy } = message;
  return {
    ...toMessageJson(message, topicName, 'manager'),
    acknowledgement_note: acknowledgement?.note ?? undefined,
    acknowledged_by_account: acknowledgement?.by.accountId ?? undefined,
    published_by_account: publishedBy?.accountId ?? undefined,
  };
}

/**
 * Parses the value of a Kafka record, which is a message object without `offset`. Throws a TypeError that names the
 * invalid field, so that a foreign record in the log cannot corrupt the state of a consumer.
 */
export function parseRecordValue(type: LogRecord['type'], timestamp: number, value: unknown): LogRecord {
  if (typeof value !== 'object' || value === null) throw new TypeError('not a message object');
  const json = value as RecordValue;
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
    ...parseAdditions(json),
  };
  return { type, timestamp, message };
}

type RecordValue = {
  readonly [
    field in keyof MessageJson | 'acknowledgement_note' | 'acknowledged_by_account' | 'published_by_account'
  ]?: unknown;
};

/** Created once, because that costs more than the parsing of most records. */
const actionsSchema = z.array(actionSchema);

/** The fields that records of earlier versions do not have. */
function parseAdditions(json: RecordValue): MessageExtras & Pick<Message, 'publishedBy'> {
  const acknowledgedBy = parseActorJson(json, 'acknowledged_by');
  return {
    click: expectedOrNull('click', json.click, isText),
    actions: json.actions === undefined ? [] : expected('actions', json.actions, isActions),
    iconUrl: expectedOrNull('icon_url', json.icon_url, isText),
    isSilent: expectedOrNull('silent', json.silent, isBoolean) ?? false,
    requiresAck: expectedOrNull('requires_ack', json.requires_ack, isBoolean) ?? false,
    acknowledgement:
      acknowledgedBy === null
        ? null
        : {
            at: time('acknowledged_at', json.acknowledged_at),
            by: acknowledgedBy,
            note: expectedOrNull('acknowledgement_note', json.acknowledgement_note, isText),
          },
    // Restored messages are not on the log.
    restoredAt: null,
    publishedBy: parseActorJson(json, 'published_by'),
  };
}

function parseActorJson(json: RecordValue, field: 'acknowledged_by' | 'published_by'): Actor | null {
  const actor = expectedOrNull(field, json[field], isActor);
  if (actor === null) return null;
  const accountField = `${field}_account` as const;
  const accountId = expectedOrNull(accountField, json[accountField], isText);
  return { kind: actor.kind, name: actor.name, accountId };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isPriority = (value: unknown): value is Priority =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 5;
const isTags = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
const isActions = (value: unknown): value is MessageAction[] => actionsSchema.safeParse(value).success;
const isActor = (value: unknown): value is ActorJson => actorSchema.safeParse(value).success;

function expected<T>(field: string, value: unknown, is: (value: unknown) => value is T): T {
  if (!is(value)) throw new TypeError(`not a message object: ${field}`);
  return value;
}

function expectedOrNull<T>(field: string, value: unknown, is: (value: unknown) => value is T): T | null {
  return value === undefined || value === null ? null : expected(field, value, is);
}

function time(field: string, value: unknown): number {
  const timeMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (!Number.isFinite(timeMs)) throw new TypeError(`not a message object: ${field}`);
  return timeMs;
}
