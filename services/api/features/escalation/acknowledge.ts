import type { Acknowledgement } from '@tocsin/shared/domain/messages/message-extras.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import {
  acknowledgeMessage,
  type Acknowledging,
  type RecordAction,
} from '@tocsin/shared/operations/escalation/acknowledge-message.ts';
import { recordAcknowledgement } from '@tocsin/shared/operations/escalation/record-acknowledgement.ts';
import { makeSecret } from '@tocsin/shared/platform/secrets.ts';
import { actorSchema, toActorJson } from '@tocsin/shared/wire/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { appendChange } from '../../storing/append-change.ts';
import type { AcknowledgeableMessage } from './load-acknowledgeable.ts';

export type AcknowledgeDeps = Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>;

export const acknowledgementSchema = z.object({
  message_id: z.uuid(),
  acknowledged_at: z.iso.datetime(),
  acknowledged_by: actorSchema,
  note: z.string().nullable(),
});

/** Acknowledges the message and appends that to the log. Resolves with the first acknowledgement. */
export async function acknowledge(
  deps: AcknowledgeDeps,
  { message }: AcknowledgeableMessage,
  by: Acknowledging,
  audit: RecordAction,
): Promise<Acknowledgement> {
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

/** Appends an acknowledgement or its withdrawal to the log if the log does not have it. */
export function recordChange(deps: AcknowledgeDeps, messageId: string): Promise<void> {
  const { documents, messages } = deps.engine;
  return recordAcknowledgement(
    { documents, messages, clock: deps.clock, append: (topic, record) => appendChange(deps, topic, record) },
    messageId,
  );
}

export const toAcknowledgementJson = (
  messageId: string,
  { at, by, note }: Acknowledgement,
): z.infer<typeof acknowledgementSchema> => ({
  message_id: messageId,
  acknowledged_at: toIso(at),
  acknowledged_by: toActorJson(by),
  note,
});
