import { requiresAck, type EscalationPolicy } from '../../domain/escalation/escalation-policy.ts';
import { nextPageAt, startEscalation } from '../../domain/escalation/escalation-state.ts';
import type { Message, Priority } from '../../domain/messages/message.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Escalation } from '../../collections/escalation/escalations.ts';
import type { New } from '../../ports/documents.ts';

/** A process that stored an acknowledgement has died if the log does not have it after this time. */
const recordsWithinMs = 10_000;

/** Returns the policy of the topic if it applies to messages of the priority. */
export function policyFor(topic: Pick<Topic, 'escalation'> | null, priority: Priority): EscalationPolicy | null {
  const policy = topic?.escalation ?? null;
  return requiresAck(policy, priority) ? policy : null;
}

/** Returns the fields that decide when a notifier looks at the escalation next. */
export function timesOf(
  policy: EscalationPolicy | null,
  { isRequired, state, unrecordedAt }: Pick<Escalation, 'isRequired' | 'state' | 'unrecordedAt'>,
): Pick<Escalation, 'isOpen' | 'dueAt' | 'decidedAt'> {
  const isOpen = isRequired && state.isOpen;
  const times = [
    isOpen ? nextPageAt(policy, state) : null,
    unrecordedAt === null ? null : unrecordedAt + recordsWithinMs,
  ].filter((time) => time !== null);
  return times.length === 0
    ? { isOpen, dueAt: null, decidedAt: null }
    : { isOpen, dueAt: Math.min(...times), decidedAt: state.decidedAt };
}

/** Returns the escalation of a message that begins now. */
export function newEscalation(
  message: Message,
  policy: EscalationPolicy | null,
  made: { readonly now: number; readonly ackKey: string },
): New<Escalation> {
  const begun = { isRequired: message.requiresAck, state: startEscalation(made.now), unrecordedAt: null };
  return {
    id: message.id,
    topicId: message.topicId,
    ...begun,
    ...timesOf(policy, begun),
    openedAt: message.timestamp,
    expiresAt: message.expiresAt,
    acknowledgement: null,
    ackUserId: null,
    ackDeviceId: null,
    pages: [],
    ackKey: made.ackKey,
    plannedId: null,
  };
}
