import type { LogRecord } from '../../domain/messages/log-record.ts';
import { acknowledgementRecord } from '../../domain/messages/message-changes.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import { escalations } from '../../collections/escalation/escalations.ts';
import { withMessageLocked } from '../../collections/message-locks.ts';
import { topics } from '../../collections/topics.ts';
import { StaleVersion, type Documents } from '../../ports/documents.ts';
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
    const recorded = { ...stored, unrecordedAt: null };
    const policy = policyFor(topic, message.priority);
    try {
      await documents.update(escalations, stored, { unrecordedAt: null, ...timesOf(policy, recorded) });
    } catch (error) {
      // Someone else changed it meanwhile and records that, or the next run of a notifier repeats this one.
      if (!(error instanceof StaleVersion)) throw error;
    }
  });
}
