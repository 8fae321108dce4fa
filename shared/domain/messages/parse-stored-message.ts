import { parseActor } from './actor.ts';
import { parseExtras, type MessageExtras } from './message-extras.ts';
import type { StoredMessage } from './message.ts';

/** The fields of a message as engines, exports and archives store them. */
export type StoredFields = Omit<StoredMessage, keyof MessageExtras | 'isDeleted' | 'isEdited' | 'publishedBy'> & {
  /** The stored form of the extras; null if all have their defaults. */
  readonly extras: string | null;
  /** The stored form of the publisher; null if unknown. */
  readonly publishedBy: string | null;
};

/**
 * Returns the message with its text, even if deleted. Runs for each message that is read, so it lists the fields: a
 * spread of the extras takes three times as long.
 */
export function parseStoredMessage(fields: StoredFields): StoredMessage {
  const extras = parseExtras(fields.extras);
  return {
    id: fields.id,
    topicId: fields.topicId,
    message: fields.message,
    title: fields.title,
    priority: fields.priority,
    tags: fields.tags,
    timestamp: fields.timestamp,
    expiresAt: fields.expiresAt,
    markdown: fields.markdown,
    isDeleted: fields.deletedAt !== null,
    isEdited: fields.editedAt !== null,
    deletedAt: fields.deletedAt,
    editedAt: fields.editedAt,
    click: extras.click,
    actions: extras.actions,
    iconUrl: extras.iconUrl,
    isSilent: extras.isSilent,
    requiresAck: extras.requiresAck,
    acknowledgement: extras.acknowledgement,
    restoredAt: extras.restoredAt,
    publishedBy: fields.publishedBy === null ? null : parseActor(fields.publishedBy),
    offset: fields.offset,
  };
}
