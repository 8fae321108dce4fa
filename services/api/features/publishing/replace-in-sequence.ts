import { requiresAck } from '@tocsin/shared/domain/escalation/escalation-policy.ts';
import { publisherId, type Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { editRecord, type MessageEdit } from '@tocsin/shared/domain/messages/message-changes.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { withMessageLocked } from '@tocsin/shared/collections/message-locks.ts';
import { messageSequenceId, messageSequences } from '@tocsin/shared/collections/message-sequences.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfSystem } from '../../audit.ts';
import { acknowledge, withdraw } from '../../storing/acknowledge.ts';
import { appendChange } from '../../storing/append-change.ts';
import type { MessageFields } from './message-fields.ts';

type SequenceDeps = Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId'>;

/** Names a sequence: those of publishers and topics are separate. */
interface SequenceOf {
  readonly caller: Caller;
  readonly topic: Topic;
  readonly sequenceId: string;
}

export interface InSequence extends SequenceOf {
  readonly fields: MessageFields;
  /** The expiry of a new message. */
  readonly expiresAt: number;
}

export interface NewInSequence {
  /** Resolves with the ID that a new message must have. */
  readonly reserveId: () => Promise<string>;
  readonly publish: (id: string) => Promise<StoredMessage>;
}

const documentId = ({ caller, topic, sequenceId }: SequenceOf): string =>
  messageSequenceId({ publisher: publisherId(caller), topicId: topic.id, sequenceId });

/**
 * Replaces the content of the message that the same publisher published with this sequence ID, or publishes a new one
 * if that message was deleted or has expired. An acknowledged message stays acknowledged, unless the replacement makes
 * it require an acknowledgement. Concurrent publishes of a sequence run one after another. Throws `unavailable` like a
 * publish.
 */
export async function replaceInSequence(
  deps: SequenceDeps,
  { fields, expiresAt, ...of }: InSequence,
  { reserveId, publish }: NewInSequence,
): Promise<StoredMessage> {
  const { documents } = deps.engine;
  const id = documentId(of);
  return withMessageLocked({ documents, clock: deps.clock }, id, async () => {
    const sequence = await documents.get(messageSequences, id);
    const replaced = sequence === null ? null : await replaceMessage(deps, of.topic, sequence.messageId, fields);
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

/**
 * Ends the sequence of an alert, so that its next message is a new one. Before, acknowledges its message if the policy
 * of the topic says so. A retry does the missing steps. Throws `unavailable`.
 */
export async function resolveSequence(deps: SequenceDeps, of: SequenceOf): Promise<void> {
  const { documents, messages } = deps.engine;
  const id = documentId(of);
  await withMessageLocked({ documents, clock: deps.clock }, id, async () => {
    const sequence = await documents.get(messageSequences, id);
    if (sequence === null) return;
    const message = of.topic.escalation?.autoAckOnResolve ? await messages.find(sequence.messageId) : null;
    if (message !== null && isShown(message, deps.clock()))
      await acknowledge(
        deps,
        message,
        { by: { kind: 'system', name: 'resolved', accountId: null }, note: null, deviceId: null },
        auditOfSystem(deps),
      );
    await documents.remove(messageSequences, id);
  });
}

const isShown = ({ isDeleted, expiresAt }: StoredMessage, now: number): boolean => !isDeleted && expiresAt > now;

/** Returns null if the message cannot be replaced. */
async function replaceMessage(
  deps: SequenceDeps,
  topic: Topic,
  messageId: string,
  fields: MessageFields,
): Promise<StoredMessage | null> {
  const { documents, messages } = deps.engine;
  const edit = contentOf(topic, fields);
  const message = await messages.find(messageId);
  // An acknowledgement from before is not one of what this replacement says.
  if (message !== null && isShown(message, deps.clock()) && !message.requiresAck && edit.requiresAck === true)
    await withdraw(deps, { message, topic }, auditOfSystem(deps));
  return withMessageLocked({ documents, clock: deps.clock }, messageId, async () => {
    const before = await messages.find(messageId);
    const now = deps.clock();
    if (before === null || !isShown(before, now)) return null;
    const record: LogRecord = editRecord(before, edit, now);
    await appendChange(deps, topic, record);
    return { ...record.message, offset: before.offset };
  });
}

/** Like a publish, a replacement follows the current policy. */
function contentOf(topic: Topic, fields: MessageFields): MessageEdit {
  const { message, title, priority, tags, markdown, click, actions, iconUrl, isSilent } = fields;
  return {
    ...{ message, title, priority, tags, markdown, click, actions, iconUrl, isSilent },
    requiresAck: requiresAck(topic.escalation, priority),
  };
}
