import type { PlacedRecord } from '../../domain/messages/log-record.ts';
import { redacted, type Message } from '../../domain/messages/message.ts';
import { idSource } from '../../platform/ids.ts';
import type { Messages } from '../../ports/messages/messages.ts';

/** A store used only by the test, which outlives its drivers and their processes. */
export interface MessagesPlace {
  /** Opens the store like another process, with the time of `now`; closed with the place. */
  open(now?: () => number): Promise<Messages>;
  /** Module code that opens the store in another process, as `messages`. */
  readonly childCode: string;
  close(): Promise<void>;
}

/** The fixture of the contract's parts. Each test uses its own topics and offsets. */
export interface MessagesFixture {
  readonly messages: () => Messages;
  /** The same store opened by several nodes. */
  readonly nodes: () => readonly Messages[];
  /** Returns the first of 1,000 unused offsets. */
  readonly freeOffset: () => number;
  readonly newPlace: () => Promise<MessagesPlace>;
}

/** The publish time of the contract's messages, and the initial time of its clock. */
export const testTime = Date.parse('2026-05-01T12:00:00.000Z');
export const day = 86_400_000;

/** IDs of topics and messages; each test uses its own. */
export const newId = idSource(() => Date.now());

export function testMessage(topicId: string, fields: Partial<Message> = {}): Message {
  return {
    id: newId(),
    topicId,
    message: 'Disk is full',
    title: null,
    priority: 3,
    tags: [],
    timestamp: testTime,
    expiresAt: testTime + 7 * day,
    markdown: false,
    isDeleted: false,
    isEdited: false,
    deletedAt: null,
    editedAt: null,
    ...fields,
  };
}

/** The record of the message's publish at this offset of partition 0. */
export function published(offset: number, message: Message): PlacedRecord {
  return { partition: 0, offset, record: { type: 'message', timestamp: message.timestamp, message } };
}

/** The record of an edit, made a minute after the publish unless `editedAt` says otherwise. */
export function edited(offset: number, message: Message, fields: Partial<Message>): PlacedRecord {
  const editedAt = fields.editedAt ?? message.timestamp + 60_000;
  const after = { ...message, ...fields, isEdited: true, editedAt };
  return { partition: 0, offset, record: { type: 'message_edited', timestamp: editedAt, message: after } };
}

/** The record of a deletion, with the redacted message. */
export function deleted(offset: number, message: Message, deletedAt = message.timestamp + 120_000): PlacedRecord {
  return {
    partition: 0,
    offset,
    record: { type: 'message_deleted', timestamp: deletedAt, message: redacted(message, deletedAt) },
  };
}

/** Like the port's `removeExpired`, but returns counts only. */
export async function removeExpired(
  messages: Messages,
  ...args: Parameters<Messages['removeExpired']>
): Promise<Map<string, number>> {
  return new Map([...(await messages.removeExpired(...args))].map(([topicId, volume]) => [topicId, volume.messages]));
}
