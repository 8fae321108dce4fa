import type { AuditAct } from '../../domain/audit/audit-entry.ts';
import { endEscalation, restartEscalation } from '../../domain/escalation/escalation-state.ts';
import type { Acknowledgement } from '../../domain/messages/message-extras.ts';
import type { StoredMessage } from '../../domain/messages/message.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import { escalations } from '../../collections/escalation/escalations.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { UniqueKeyViolation, write, type Documents, type Write } from '../../ports/documents.ts';
import { newEscalation, policyFor, timesOf } from './escalation-times.ts';

export interface AcknowledgeDeps {
  readonly documents: Documents;
  readonly clock: () => number;
  /** Creates the key that signs the links of a message's pushes. */
  readonly makeAckKey: () => string;
}

/** Returns the writes that record the action. */
export type RecordAction = (
  act: AuditAct<'message.acknowledged' | 'message.acknowledgement_withdrawn'>,
) => readonly Write[];

export interface Acknowledging extends Pick<Acknowledgement, 'by' | 'note'> {
  /** The device whose push acknowledged the message; null otherwise. */
  readonly deviceId: string | null;
}

/**
 * Acknowledges the message: from now on no page of it is claimed. Resolves with the acknowledgement, the first one if
 * it has one already. The log does not have it yet, see `recordAcknowledgement`; a notifier adds it if the caller dies.
 */
export function acknowledgeMessage(
  { documents, clock, makeAckKey }: AcknowledgeDeps,
  message: StoredMessage,
  { by, note, deviceId }: Acknowledging,
  audit: RecordAction,
): Promise<Acknowledgement> {
  return retryStale(
    async () => {
      const stored = await documents.get(escalations, message.id);
      if (stored !== null && stored.acknowledgement !== null) return stored.acknowledgement;
      const now = clock();
      // The notifier may not have read the message yet.
      const before = stored ?? newEscalation(message, null, { now, ackKey: makeAckKey() });
      const ended = { isRequired: before.isRequired, state: endEscalation(before.state, now), unrecordedAt: now };
      const acknowledgement = { at: now, by, note };
      const set = {
        ...ended,
        ...timesOf(null, ended),
        acknowledgement,
        ackUserId: by.accountId,
        ackDeviceId: deviceId,
        plannedId: null,
      };
      await documents.commit([
        stored === null ? write.insert(escalations, { ...before, ...set }) : write.update(escalations, stored, set),
        ...audit(actOn(message, 'message.acknowledged')),
      ]);
      return acknowledgement;
    },
    (error) => error instanceof UniqueKeyViolation,
  );
}

/** Withdraws the acknowledgement, so that the escalation starts again. Resolves with whether there was one. */
export function withdrawAcknowledgement(
  { documents, clock }: Omit<AcknowledgeDeps, 'makeAckKey'>,
  { message, topic }: { readonly message: StoredMessage; readonly topic: Topic },
  audit: RecordAction,
): Promise<boolean> {
  return retryStale(async () => {
    const stored = await documents.get(escalations, message.id);
    if (stored === null || stored.acknowledgement === null) return false;
    const now = clock();
    const again = {
      isRequired: stored.isRequired,
      state: restartEscalation(stored.state, now),
      unrecordedAt: now,
    };
    const set = {
      ...again,
      ...timesOf(policyFor(topic, message.priority), again),
      acknowledgement: null,
      ackUserId: null,
      ackDeviceId: null,
      plannedId: null,
    };
    await documents.commit([
      write.update(escalations, stored, set),
      ...audit(actOn(message, 'message.acknowledgement_withdrawn')),
    ]);
    return true;
  });
}

const actOn = <A extends Parameters<RecordAction>[0]['action']>({ id, topicId }: StoredMessage, action: A) => ({
  action,
  subject: { id },
  within: { type: 'topic' as const, id: topicId },
  details: {},
});
