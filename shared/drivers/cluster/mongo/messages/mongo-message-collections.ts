import type { Connection, mongo } from 'mongoose';
import { foldCase, isPlain } from '../../../../domain/fold-case.ts';
import { redacted, type Message, type Priority, type StoredMessage } from '../../../../domain/messages/message.ts';

/** What an edit replaces. */
export interface MessageContent {
  readonly message: string;
  readonly title: string | null;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly markdown: boolean;
  readonly editedAt: number | null;
  /** Position of the edit that the content is from, or one of those below. */
  readonly contentRev: number;
  /**
   * Title and text for a search without regard to case, where they are not plain (`isPlain`): MongoDB's own does not fold
   * in full, and knows no NUL. Plain ones are searched as they are; so only other text is stored twice.
   */
  readonly folded?: readonly string[] | null;
}

/** `contentRev` of a message as it was published. */
export const asPublished = -1;
/** `contentRev` of a stub that only a deletion made: nothing is known of its content. */
export const contentUnknown = -2;
/** `contentRev` of a message whose content was taken from it: no edit comes after that. */
export const contentTaken = Number.MAX_SAFE_INTEGER;

/**
 * A message and, in one, its `message` record in the log: so a publish writes one document.
 * Without `offset` it is a stub, made by an edit or deletion that came before the message; no read by position sees it.
 */
export interface MessageDocument extends MessageContent {
  readonly _id: string;
  readonly topicId: string;
  readonly partition: number;
  readonly offset?: number;
  readonly timestamp: number;
  readonly expiresAt: number;
  readonly deletedAt?: number;
}

/** An edit's or a deletion's record. Its id is its place in the log, so that a repetition is no second document. */
export interface ChangeDocument {
  readonly _id: { readonly partition: number; readonly offset: number };
  readonly type: 'message_edited' | 'message_deleted';
  readonly topicId: string;
  readonly messageId: string;
  readonly offset: number;
  readonly timestamp: number;
}

/**
 * A part of a topic's figures: the sum and the maxima of its parts are the topic's. Nodes that publish to the same topic
 * at the same time come to use different parts, or their transactions would keep meeting there.
 */
export interface TopicStatsDocument {
  readonly _id: { readonly topicId: string; readonly part: number };
  readonly topicId: string;
  readonly messageCount: number;
  readonly lastOffset: number;
  readonly lastMessageAt?: number;
}

export interface WatermarkDocument {
  readonly _id: number;
  readonly offset: number;
}

/**
 * The driver's own collections: mongoose's models would cast and check what is typed already, at a price per message.
 */
export interface MessageCollections {
  readonly messages: mongo.Collection<MessageDocument>;
  readonly changes: mongo.Collection<ChangeDocument>;
  readonly stats: mongo.Collection<TopicStatsDocument>;
  readonly watermarks: mongo.Collection<WatermarkDocument>;
}

/** What a search reads, and how long it may. */
export interface SearchedCollections extends MessageCollections {
  readonly limits: { readonly maxTimeMS: number };
}

/** Names of the indexes that queries ask for, so that no plan can fall for another one. */
export const byTopic = 'byTopic';
export const byTime = 'byTime';
export const byExpiry = 'byExpiry';
export const byDeletion = 'byDeletion';

/** Not deleted: the field is absent. */
export const notDeleted = { deletedAt: { $exists: false } } as const;
/** What history shows until it expires: no stub, and not deleted. */
export const shownByHistory = { offset: { $gte: 0 }, ...notDeleted } as const;

/** Descending, so that the last record of each of many topics is found without reading any other. */
const recordIndexes: mongo.IndexDescription[] = [
  { key: { topicId: 1, offset: -1 }, name: byTopic },
  { key: { topicId: 1, timestamp: 1, offset: 1 }, name: byTime },
];

/** Names the collections, and makes them with their indexes; those that are there are left as they are. */
export async function prepareMessageCollections(connection: Connection): Promise<MessageCollections> {
  const db = connection.db!;
  const collections: MessageCollections = {
    messages: db.collection('messages'),
    changes: db.collection('message_changes'),
    stats: db.collection('topic_stats'),
    watermarks: db.collection('watermarks'),
  };
  // Transactions want their collections to be there. Together, since the server makes several in next to the time of one.
  const existing = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  const made = await Promise.allSettled([
    existing.has(collections.watermarks.collectionName)
      ? undefined
      : db.createCollection(collections.watermarks.collectionName).catch(unlessThere),
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
    collections.stats.createIndexes([{ key: { topicId: 1 }, name: byTopic }]),
  ]);
  const failed = made.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return collections;
}

/** Another node was faster. */
function unlessThere(error: unknown): void {
  if ((error as { codeName?: unknown }).codeName !== 'NamespaceExists') throw error;
}

/** The bytes of a message's text and title, as MongoDB works them out: what the port calls its volume. */
export const volumeBytes = {
  $add: [{ $strLenBytes: { $ifNull: ['$message', ''] } }, { $strLenBytes: { $ifNull: ['$title', ''] } }],
};

/** The message of a document that has its position, with its text also when it is deleted. */
export function toMessage(document: MessageDocument): StoredMessage {
  return {
    id: document._id,
    topicId: document.topicId,
    message: document.message,
    title: document.title,
    priority: document.priority as Priority,
    tags: document.tags,
    timestamp: document.timestamp,
    expiresAt: document.expiresAt,
    markdown: document.markdown,
    isDeleted: document.deletedAt !== undefined,
    isEdited: document.editedAt !== null,
    deletedAt: document.deletedAt ?? null,
    editedAt: document.editedAt,
    offset: document.offset!,
  };
}

/** The message as everyone may see it: emptied when it is deleted. */
export function toShownMessage(document: MessageDocument): StoredMessage {
  const message = toMessage(document);
  return message.deletedAt === null ? message : redacted(message, message.deletedAt);
}

export function contentOf(message: Message, contentRev: number): MessageContent {
  const { message: text, title, priority, tags, markdown, editedAt } = message;
  const shown = title === null ? [text] : [title, text];
  const folded = shown.every(isPlain) ? null : shown.map(foldCase);
  return { message: text, title, priority, tags, markdown, editedAt, contentRev, folded };
}

/** What of a document never changes. */
export function originOf(
  message: Message,
  partition: number,
): Pick<MessageDocument, 'topicId' | 'partition' | 'timestamp' | 'expiresAt'> {
  return { topicId: message.topicId, partition, timestamp: message.timestamp, expiresAt: message.expiresAt };
}
