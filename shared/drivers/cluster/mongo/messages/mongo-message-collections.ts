import type { Connection, mongo } from 'mongoose';
import type { RecordType } from '../../../../domain/messages/log-record.ts';
import { foldCase, isPlain } from '../../../../domain/fold-case.ts';
import { storedActor } from '../../../../domain/messages/actor.ts';
import { storedExtras } from '../../../../domain/messages/message-extras.ts';
import { redacted, type Message, type Priority, type StoredMessage } from '../../../../domain/messages/message.ts';
import { parseStoredMessage } from '../../../../domain/messages/parse-stored-message.ts';

/** The fields that a change replaces. */
export interface MessageContent {
  readonly message: string;
  readonly title: string | null;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly markdown: boolean;
  readonly editedAt: number | null;
  /** JSON of the fields that most messages do not have: a header of an action can have a name that MongoDB reserves. */
  readonly extras?: string | null;
  /** Offset of the change that set the content, or one of the constants below. */
  readonly contentRev: number;
  /**
   * Folded title and text for case-insensitive search, unless they are plain (`isPlain`): MongoDB's own case folding is
   * incomplete, and it does not support NUL. Plain texts are searched directly.
   */
  readonly folded?: readonly string[] | null;
}

/** `contentRev` of an unedited message. */
export const asPublished = -1;
/** `contentRev` of a stub created by a deletion, without content. */
export const stubRev = -2;
/** `contentRev` of a redacted message; no edit can follow. */
export const redactedRev = Number.MAX_SAFE_INTEGER;

/**
 * A message and its `message` record, in one document, so that a publish writes one document. A document without
 * `offset` is a stub of an edit or deletion that was applied before its message; reads by offset skip it.
 */
export interface MessageDocument extends MessageContent {
  readonly _id: string;
  readonly topicId: string;
  readonly partition: number;
  readonly offset?: number;
  readonly timestamp: number;
  readonly expiresAt: number;
  readonly deletedAt?: number;
  readonly publishedBy?: string | null;
}

/**
 * The record of a change. Its ID is its partition and offset, so that a repeated record creates no
 * duplicate.
 */
export interface ChangeDocument {
  readonly _id: { readonly partition: number; readonly offset: number };
  readonly type: Exclude<RecordType, 'message'>;
  readonly topicId: string;
  readonly messageId: string;
  readonly offset: number;
  readonly timestamp: number;
}

/**
 * A topic's counters: the sums and maxima over its parts. Publishes write no counter, because those of several nodes
 * would conflict there. The checkpoint counts the messages up to an offset, and reads add the later ones (decision
 * 0043). Other parts were written by earlier versions and by imports, and are only read.
 */
export interface TopicStatsDocument {
  readonly _id: { readonly topicId: string; readonly part: number };
  readonly topicId: string;
  readonly messageCount: number;
  /** Offset and time of the last record as far as known here, even of removed messages and duplicates. */
  readonly lastOffset: number;
  readonly lastMessageAt?: number;
  /** Only in the checkpoint: the offset up to which messages are counted. */
  readonly countedTo?: number;
  /** Only in the checkpoint: grows with each change. */
  readonly revision?: number;
}

/** The part of the checkpoint. */
export const checkpointPart = -2;

/**
 * The offset of a removed record. Of those below the topic's first stored record, only the highest is kept: usually one
 * document per topic, because messages expire in order.
 */
export interface LostRecordDocument {
  readonly _id: { readonly topicId: string; readonly offset: number };
  readonly topicId: string;
  readonly offset: number;
}

export interface WatermarkDocument {
  readonly _id: number;
  readonly offset: number;
}

/**
 * Native collections, because mongoose models would cast and validate every message.
 */
export interface MessageCollections {
  readonly messages: mongo.Collection<MessageDocument>;
  readonly changes: mongo.Collection<ChangeDocument>;
  readonly stats: mongo.Collection<TopicStatsDocument>;
  readonly lost: mongo.Collection<LostRecordDocument>;
  readonly watermarks: mongo.Collection<WatermarkDocument>;
}

/** The read options and time limit of a search. */
export interface SearchedCollections extends MessageCollections {
  readonly limits: { readonly maxTimeMS: number };
}

/** Names of indexes used as hints, so that the planner does not choose another index. */
export const byTopic = 'byTopic';
export const byTime = 'byTime';
export const byExpiry = 'byExpiry';
export const byDeletion = 'byDeletion';

/** Not deleted: the field is absent. */
export const notDeleted = { deletedAt: { $exists: false } } as const;
/** Messages that history returns until they expire: neither stubs nor deleted. */
export const visibleInHistory = { offset: { $gte: 0 }, ...notDeleted } as const;

/** Descending, so that the last record of many topics is found without reading other records. */
const recordIndexes: mongo.IndexDescription[] = [
  { key: { topicId: 1, offset: -1 }, name: byTopic },
  { key: { topicId: 1, timestamp: 1, offset: 1 }, name: byTime },
];

/** Creates missing collections and indexes. */
export async function prepareMessageCollections(connection: Connection): Promise<MessageCollections> {
  const db = connection.db!;
  const collections: MessageCollections = {
    messages: db.collection('messages'),
    changes: db.collection('message_changes'),
    stats: db.collection('topic_stats'),
    lost: db.collection('lost_records'),
    watermarks: db.collection('watermarks'),
  };
  // Transactions need existing collections. Creates them concurrently, which takes almost the time of one.
  const existing = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  const results = await Promise.allSettled([
    existing.has(collections.watermarks.collectionName)
      ? undefined
      : db.createCollection(collections.watermarks.collectionName).catch(ignoreExisting),
    collections.messages.createIndexes([
      ...recordIndexes,
      { key: { expiresAt: 1, topicId: 1 }, name: byExpiry },
      {
        key: { deletedAt: 1, topicId: 1 },
        name: byDeletion,
        partialFilterExpression: { deletedAt: { $exists: true } },
      },
    ]),
    collections.changes.createIndexes([...recordIndexes, { key: { messageId: 1 }, name: 'byMessage' }]),
    collections.lost.createIndexes([{ key: { topicId: 1, offset: -1 }, name: byTopic }]),
    collections.stats.createIndexes([{ key: { topicId: 1 }, name: byTopic }]),
  ]);
  const failed = results.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return collections;
}

/** Another node created it first. */
function ignoreExisting(error: unknown): void {
  if ((error as { codeName?: unknown }).codeName !== 'NamespaceExists') throw error;
}

/** Expression for a message's volume: the bytes of text and title. */
export const volumeBytes = {
  $add: [{ $strLenBytes: { $ifNull: ['$message', ''] } }, { $strLenBytes: { $ifNull: ['$title', ''] } }],
};

/** Returns the message of a document with an offset, with its text even if deleted. */
export function toMessage(document: MessageDocument): StoredMessage {
  return parseStoredMessage({
    id: document._id,
    topicId: document.topicId,
    message: document.message,
    title: document.title,
    priority: document.priority as Priority,
    tags: document.tags,
    timestamp: document.timestamp,
    expiresAt: document.expiresAt,
    markdown: document.markdown,
    editedAt: document.editedAt,
    deletedAt: document.deletedAt ?? null,
    extras: document.extras ?? null,
    publishedBy: document.publishedBy ?? null,
    offset: document.offset!,
  });
}

/** Returns the message as visible to everyone: redacted if deleted. */
export function toShownMessage(document: MessageDocument): StoredMessage {
  const message = toMessage(document);
  return message.deletedAt === null ? message : redacted(message, message.deletedAt);
}

export function contentOf(message: Message, contentRev: number): MessageContent {
  const { message: text, title, priority, tags, markdown, editedAt } = message;
  const texts = title === null ? [text] : [title, text];
  const folded = texts.every(isPlain) ? null : texts.map(foldCase);
  return {
    message: text,
    title,
    priority,
    tags,
    markdown,
    editedAt,
    extras: storedExtras(message),
    contentRev,
    folded,
  };
}

/** The immutable fields of a document. */
export function originOf(
  message: Message,
  partition: number,
): Pick<MessageDocument, 'topicId' | 'partition' | 'timestamp' | 'expiresAt' | 'publishedBy'> {
  const { topicId, timestamp, expiresAt, publishedBy } = message;
  return {
    topicId,
    partition,
    timestamp,
    expiresAt,
    publishedBy: publishedBy === null ? null : storedActor(publishedBy),
  };
}
