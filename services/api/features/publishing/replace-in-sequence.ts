import { requiresAck } from '@tocsin/shared/domain/escalation/escalation-policy.ts';
import { publisherId, type Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { LogRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { editRecord, type MessageEdit } from '@tocsin/shared/domain/messages/message-changes.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { withMessageLocked } from '@tocsin/shared/collections/message-locks.ts';
import {
  messageSequenceId,
  messageSequences,
  type MessageSequence,
} from '@tocsin/shared/collections/message-sequences.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOfSystem } from '../../audit.ts';
import { acknowledge, withdraw } from '../../storing/acknowledge.ts';
import { appendChange } from '../../storing/append-change.ts';
import type { MessageFields } from './message-fields.ts';

const removedPerQuery = 100;

type SequenceDeps = Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId'>;

/** Names sequences: those of publishers and topics are separate. */
interface SequencesOf {
  readonly caller: Caller;
  readonly topic: Topic;
  /** At least one. The message is in the first, and continues the first of them that has a message. */
  readonly sequenceIds: readonly string[];
}

export interface InSequence extends SequencesOf {
  readonly fields: MessageFields;
  /** The expiry of a new message. */
  readonly expiresAt: number;
}

export interface NewInSequence {
  /** Resolves with the ID that a new message must have. */
  readonly reserveId: () => Promise<string>;
  readonly publish: (id: string) => Promise<StoredMessage>;
}

/** The IDs of their documents. */
const documentIds = ({ caller, topic, sequenceIds }: SequencesOf): string[] =>
  sequenceIds.map((sequenceId) => messageSequenceId({ publisher: publisherId(caller), topicId: topic.id, sequenceId }));

/** The sequences that exist, in the order of the IDs. */
async function findSequences(documents: Documents, ids: readonly string[]): Promise<MessageSequence[]> {
  const found = new Map((await documents.getMany(messageSequences, ids)).map((one) => [one.id, one]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/**
 * Replaces the content of the message that the same publisher published in these sequences, or publishes a new one
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
  const ids = documentIds(of);
  const id = ids[0]!;
  return withMessageLocked({ documents, clock: deps.clock }, id, async () => {
    const sequences = await findSequences(documents, ids);
    const point = async (to: Pick<MessageSequence, 'messageId' | 'expiresAt'>): Promise<unknown> => {
      const first = sequences.find((one) => one.id === id);
      if (first === undefined) return documents.insert(messageSequences, { id, ...to });
      return first.messageId === to.messageId ? first : documents.update(messageSequences, first, to);
    };
    for (const { messageId } of sequences) {
      const replaced = await replaceMessage(deps, of.topic, messageId, fields);
      if (replaced === null) continue;
      await point({ messageId, expiresAt: replaced.expiresAt });
      return replaced;
    }
    const messageId = await reserveId();
    // Stored first, so that a message that was published cannot lack its sequence.
    await point({ messageId, expiresAt });
    return publish(messageId);
  });
}

/**
 * Ends the sequences of an alert, so that its next message is a new one. Before, acknowledges their messages if the
 * policy of the topic says so. A retry does the missing steps. Throws `unavailable`.
 */
export async function resolveSequences(deps: SequenceDeps, of: SequencesOf): Promise<void> {
  const { documents } = deps.engine;
  const ids = documentIds(of);
  await withMessageLocked({ documents, clock: deps.clock }, ids[0]!, async () => {
    for (const messageId of new Set((await findSequences(documents, ids)).map((one) => one.messageId))) {
      if (of.topic.escalation?.autoAckOnResolve) await acknowledgeResolved(deps, messageId);
      await removeSequences(documents, messageId);
    }
  });
}

async function acknowledgeResolved(deps: SequenceDeps, messageId: string): Promise<void> {
  const message = await deps.engine.messages.find(messageId);
  if (message === null || !isShown(message, deps.clock())) return;
  await acknowledge(
    deps,
    message,
    { by: { kind: 'system', name: 'resolved', accountId: null }, note: null, deviceId: null },
    auditOfSystem(deps),
  );
}

/** Removes all sequences of a message. */
async function removeSequences(documents: Documents, messageId: string): Promise<void> {
  const query = { index: 'byMessage', equals: { messageId }, limit: removedPerQuery } as const;
  for (let found; (found = await documents.find(messageSequences, query)).length > 0;)
    await Promise.all(found.map(({ id }) => documents.remove(messageSequences, id)));
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
