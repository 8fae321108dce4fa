import type { PlacedRecord } from '../../domain/messages/log-record.ts';
import { redacted, type Message } from '../../domain/messages/message.ts';
import { idSource } from '../../platform/ids.ts';
import type { Messages } from '../../ports/messages.ts';

/** A store that only the test uses: what stays when the drivers that opened it are closed or their process dies. */
export interface MessagesPlace {
  /** Opens the store as another process would, with the time that `now` gives; closed with the place. */
  open(now?: () => number): Promise<Messages>;
  /** Module code that opens the store in another process, as `messages`. */
  readonly childCode: string;
  close(): Promise<void>;
}

/** What the parts of the contract work with; a test takes topics and positions of its own. */
export interface MessagesUnderTest {
  readonly messages: () => Messages;
  /** The same store as several nodes have it open. */
  readonly nodes: () => readonly Messages[];
  /** The first of 1,000 positions that nobody else uses. */
  readonly freeOffset: () => number;
  readonly newPlace: () => Promise<MessagesPlace>;
}

/** When the contract's messages are published, and what its clock shows unless a test moves it. */
export const testTime = Date.parse('2026-05-01T12:00:00.000Z');
export const day = 86_400_000;

/** Ids of topics and messages: each test takes its own, so that none sees another's. */
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

/** The record of the message's publish, at this position of partition 0. */
export function published(offset: number, message: Message): PlacedRecord {
  return { partition: 0, offset, record: { type: 'message', timestamp: message.timestamp, message } };
}

/** The record of an edit, made a minute after the publish unless `editedAt` says otherwise. */
export function edited(offset: number, message: Message, fields: Partial<Message>): PlacedRecord {
  const editedAt = fields.editedAt ?? message.timestamp + 60_000;
  const after = { ...message, ...fields, isEdited: true, editedAt };
  return { partition: 0, offset, record: { type: 'message_edited', timestamp: editedAt, message: after } };
}

/** The record of a deletion, which carries the message emptied. */
export function deleted(offset: number, message: Message, deletedAt = message.timestamp + 120_000): PlacedRecord {
  return {
    partition: 0,
    offset,
    record: { type: 'message_deleted', timestamp: deletedAt, message: redacted(message, deletedAt) },
  };
}
