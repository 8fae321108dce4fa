import { AppError } from '../errors.ts';
import type { Actor } from './actor.ts';
import { noExtras, type MessageExtras } from './message-extras.ts';

/** 1 (lowest) to 5 (highest); default 3. */
export type Priority = 1 | 2 | 3 | 4 | 5;

/**
 * A message as published, without the topic's name (a topic can be renamed) and without its offset (which the event log
 * assigns). Times are milliseconds since the epoch.
 */
export interface Message extends MessageExtras {
  /** UUIDv7, so that IDs sort by time. */
  readonly id: string;
  readonly topicId: string;
  /** 1–4,000 code points, unchanged; empty after a deletion. */
  readonly message: string;
  readonly title: string | null;
  readonly priority: Priority;
  readonly tags: readonly string[];
  readonly timestamp: number;
  readonly expiresAt: number;
  readonly markdown: boolean;
  readonly isDeleted: boolean;
  readonly isEdited: boolean;
  readonly deletedAt: number | null;
  readonly editedAt: number | null;
  /** Null if unknown, as for messages of earlier versions. */
  readonly publishedBy: Actor | null;
}

/** A message with the offset of its `message` record in the topic's partition. The offset never changes. */
export interface StoredMessage extends Message {
  readonly offset: number;
}

export const messageLimits = {
  textCodePoints: 4_000,
  titleCodePoints: 250,
  tags: 20,
  tagCodePoints: 64,
} as const;

/** Whether the message requires an acknowledgement or has a button for it. */
export function hasEscalation({ requiresAck, actions }: Pick<Message, 'requiresAck' | 'actions'>): boolean {
  return requiresAck || actions.some(({ action }) => action === 'ack');
}

/** Returns the tombstone of a deleted message: its metadata without content. */
export function redacted<M extends Message>(message: M, deletedAt: number): M {
  return { ...message, ...noExtras, message: '', title: null, tags: [], isDeleted: true, deletedAt };
}

/** Throws 409 for a message that was restored from the archive. */
export function requireOriginal({ restoredAt }: Pick<Message, 'restoredAt'>): void {
  if (restoredAt !== null) throw new AppError('conflict', 'Message was restored from the archive and is read-only');
}
