import type { Acknowledgement } from '@tocsin/shared/domain/messages/message-extras.ts';
import { requireOriginal, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import {
  acknowledgeMessage,
  withdrawAcknowledgement,
  type Acknowledging,
  type RecordAction,
} from '@tocsin/shared/operations/escalation/acknowledge-message.ts';
import { recordAcknowledgement } from '@tocsin/shared/operations/escalation/record-acknowledgement.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { makeSecret } from '@tocsin/shared/platform/secrets.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { appendChange } from './append-change.ts';

export interface AcknowledgeDeps {
  readonly engine: Pick<Engine, 'documents' | 'eventLog' | 'messages'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Acknowledges the message and appends that to the log. Resolves with the first acknowledgement. */
export async function acknowledge(
  deps: AcknowledgeDeps,
  message: StoredMessage,
  by: Acknowledging,
  audit: RecordAction,
): Promise<Acknowledgement> {
  requireOriginal(message);
  const { documents } = deps.engine;
  const acknowledgement = await acknowledgeMessage(
    { documents, clock: deps.clock, makeAckKey: makeSecret },
    message,
    by,
    audit,
  );
  await recordChange(deps, message.id);
  return acknowledgement;
}

/** Withdraws the acknowledgement of the message, if it has one, and appends that to the log. */
export async function withdraw(
  deps: AcknowledgeDeps,
  of: { readonly message: StoredMessage; readonly topic: Topic },
  audit: RecordAction,
): Promise<void> {
  requireOriginal(of.message);
  await withdrawAcknowledgement({ documents: deps.engine.documents, clock: deps.clock }, of, audit);
  // Also without one: an earlier withdrawal may not be on the log.
  await recordChange(deps, of.message.id);
}

/** Appends an acknowledgement or its withdrawal to the log if the log does not have it. */
function recordChange(deps: AcknowledgeDeps, messageId: string): Promise<void> {
  const { documents, messages } = deps.engine;
  return recordAcknowledgement(
    { documents, messages, clock: deps.clock, append: (topic, record) => appendChange(deps, topic, record) },
    messageId,
  );
}
