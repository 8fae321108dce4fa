import type { LogRecord } from '../../domain/messages/log-record.ts';
import { acknowledgementRecord } from '../../domain/messages/message-changes.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { escalations, type Escalation } from '../../collections/escalation/escalations.ts';
import { withMessageLocked } from '../../collections/message-locks.ts';
import { topics } from '../../collections/topics.ts';
import type { Documents } from '../../ports/documents.ts';
import type { MessageReads } from '../../ports/messages/message-reads.ts';
import { policyFor, timesOf } from './escalation-times.ts';

export interface RecordDeps {
  readonly documents: Documents;
  readonly messages: Pick<MessageReads, 'find'>;
  readonly clock: () => number;
  /** Resolves when the log has the record. */
  readonly append: (topic: Topic, record: LogRecord) => Promise<void>;
}

/**
 * Appends the acknowledgement of a message, or its withdrawal, to the log if that did not happen. At least once: a
 * crash can repeat the record. Throws `unavailable` if the log did not accept it in time; a notifier then tries again.
 */
export async function recordAcknowledgement(deps: RecordDeps, messageId: string): Promise<void> {
  const { documents, messages, clock } = deps;
  await withMessageLocked({ documents, clock }, messageId, async () => {
    const stored = await documents.get(escalations, messageId);
    if (stored === null || stored.unrecordedAt === null) return;
    const [message, topic] = await Promise.all([messages.find(messageId), documents.get(topics, stored.topicId)]);
    // Not stored yet: a notifier tries again.
    if (message === null) return;
    if (topic !== null && !message.isDeleted)
      await deps.append(topic, acknowledgementRecord(message, stored.acknowledgement, stored.unrecordedAt));
    // A sweep can change the document meanwhile, for example by a new policy; that must not repeat the record.
    await retryStale(async () => {
      const current = await documents.get(escalations, messageId);
      if (current === null || !isSameChange(current, stored)) return;
      // Read after it: a policy that changes later also changes the document.
      const policy = policyFor(await documents.get(topics, stored.topicId), message.priority);
      const times = timesOf(policy, { ...current, unrecordedAt: null });
      await documents.update(escalations, current, { unrecordedAt: null, ...times });
    });
  });
}

/** A later acknowledgement or withdrawal is recorded by its own call. */
const isSameChange = (one: Escalation, other: Escalation): boolean =>
  one.unrecordedAt === other.unrecordedAt && (one.acknowledgement === null) === (other.acknowledgement === null);
