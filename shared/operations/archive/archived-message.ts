import { z } from 'zod';
import { storedActor } from '../../domain/messages/actor.ts';
import { storedExtras } from '../../domain/messages/message-extras.ts';
import type { StoredMessage } from '../../domain/messages/message.ts';
import { parseStoredMessage } from '../../domain/messages/parse-stored-message.ts';
import { storedMessageFields } from '../../wire/stored-message.ts';

const archivedMessage = z.strictObject({ ...storedMessageFields, offset: z.int().min(0) });

/**
 * Returns the line of a message in an archived object, without a line break: the fields of an installation's export
 * except `contentRev`, which only later edits need.
 */
export function toArchiveLine(message: StoredMessage): string {
  const line: z.infer<typeof archivedMessage> = {
    id: message.id,
    topicId: message.topicId,
    offset: message.offset,
    message: message.message,
    title: message.title,
    priority: message.priority,
    tags: [...message.tags],
    timestamp: message.timestamp,
    expiresAt: message.expiresAt,
    markdown: message.markdown,
    editedAt: message.editedAt,
    deletedAt: message.deletedAt,
    extras: storedExtras({ ...message, restoredAt: null }),
    publishedBy: message.publishedBy === null ? null : storedActor(message.publishedBy),
  };
  return JSON.stringify(line);
}

/** Parses a line of an archived object. Throws for any other text. */
export function parseArchiveLine(line: string): StoredMessage {
  return parseStoredMessage(archivedMessage.parse(JSON.parse(line)));
}
