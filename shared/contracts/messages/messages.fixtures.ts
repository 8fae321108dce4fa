import type { PlacedRecord } from '../../domain/messages/log-record.ts';
import { redacted, type Message } from '../../domain/messages/message.ts';
import { idSource } from '../../platform/ids.ts';
import type { Messages } from '../../ports/messages/messages.ts';
import type { Actor } from '../../domain/messages/actor.ts';
import { noExtras, type Acknowledgement, type MessageExtras } from '../../domain/messages/message-extras.ts';

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
    ...noExtras,
    publishedBy: null,
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

const ann: Actor = { kind: 'account', name: 'ann', accountId: '0198e0a1-7b5c-7000-8000-00000000a000' };

/** All fields that most messages do not have. */
export const fullExtras: MessageExtras & Pick<Message, 'publishedBy'> = {
  click: 'myapp://doors/4?open=1',
  iconUrl: 'https://example.com/ü.png',
  actions: [
    { action: 'view', label: '見る', url: 'https://example.com', clear: true },
    {
      action: 'http',
      label: 'Close',
      url: 'https://example.com/close',
      method: 'PUT',
      headers: { 'X-$a.b': '1' },
      body: '{"open":false}',
      clear: false,
    },
    { action: 'ack', label: 'I have it' },
  ],
  isSilent: true,
  requiresAck: true,
  acknowledgement: { at: testTime + 5, by: ann, note: 'on my way' },
  restoredAt: null,
  publishedBy: { kind: 'api_key', name: 'door: front', accountId: ann.accountId },
};

/** The record of an acknowledgement. */
export function acknowledged(offset: number, message: Message, at = message.timestamp + 30_000): PlacedRecord {
  const acknowledgement: Acknowledgement = { at, by: ann, note: null };
  return {
    partition: 0,
    offset,
    record: { type: 'message_acknowledged', timestamp: at, message: { ...message, acknowledgement } },
  };
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
