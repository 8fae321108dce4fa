import { publisherId, type Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { editRecord, type MessageEdit } from '@tocsin/shared/domain/messages/message-changes.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { withMessageLocked } from '@tocsin/shared/collections/message-locks.ts';
import { messageSequenceId, messageSequences } from '@tocsin/shared/collections/message-sequences.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { appendChange } from '../../storing/append-change.ts';
import type { MessageFields } from './message-fields.ts';

type SequenceDeps = Pick<ApiDeps, 'clock' | 'engine' | 'log'>;

export interface InSequence {
  readonly caller: Caller;
  readonly topic: Topic;
  readonly sequenceId: string;
  readonly fields: MessageFields;
  /** The expiry of a new message. */
  readonly expiresAt: number;
}

export interface NewInSequence {
  /** Resolves with the ID that a new message must have. */
  readonly reserveId: () => Promise<string>;
  readonly publish: (id: string) => Promise<StoredMessage>;
}

/**
 * Replaces the content of the message that the same publisher published with this sequence ID, or publishes a new one
 * if that message was deleted, acknowledged or has expired. Concurrent publishes of a sequence run one after another.
 * Throws `unavailable` like a publish.
 */
export async function replaceInSequence(
  deps: SequenceDeps,
  { caller, topic, sequenceId, fields, expiresAt }: InSequence,
  { reserveId, publish }: NewInSequence,
): Promise<StoredMessage> {
  const { documents } = deps.engine;
  const id = messageSequenceId({ publisher: publisherId(caller), topicId: topic.id, sequenceId });
  return withMessageLocked({ documents, clock: deps.clock }, id, async () => {
    const sequence = await documents.get(messageSequences, id);
    const replaced = sequence === null ? null : await replaceMessage(deps, topic, sequence.messageId, fields);
    if (replaced !== null) return replaced;
    const messageId = await reserveId();
    const to = { messageId, expiresAt };
    // Stored first, so that a message that was published cannot lack its sequence.
    await (sequence === null
      ? documents.insert(messageSequences, { id, ...to })
      : documents.update(messageSequences, sequence, to));
    return publish(messageId);
  });
}

/** Returns null if the message cannot be replaced. */
function replaceMessage(
  deps: SequenceDeps,
  topic: Topic,
  messageId: string,
  fields: MessageFields,
): Promise<StoredMessage | null> {
  const { documents, messages } = deps.engine;
  return withMessageLocked({ documents, clock: deps.clock }, messageId, async () => {
    const before = await messages.find(messageId);
    const now = deps.clock();
    if (before === null || before.isDeleted || before.expiresAt <= now || before.acknowledgement !== null) return null;
    const record: LogRecord = editRecord(before, contentOf(fields), now);
    await appendChange(deps, topic, record);
    return { ...record.message, offset: before.offset };
  });
}

function contentOf(fields: MessageFields): MessageEdit {
  const { message, title, priority, tags, markdown, click, actions, iconUrl, isSilent } = fields;
  return { message, title, priority, tags, markdown, click, actions, iconUrl, isSilent };
}
