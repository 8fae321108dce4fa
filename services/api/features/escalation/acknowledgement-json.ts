import type { Acknowledgement } from '@tocsin/shared/domain/messages/message-extras.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { actorSchema, toActorJson } from '@tocsin/shared/wire/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';

export type AcknowledgeRouteDeps = Pick<ApiDeps, 'clock' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>;

export const acknowledgementSchema = z.object({
  message_id: z.uuid(),
  acknowledged_at: z.iso.datetime(),
  acknowledged_by: actorSchema,
  note: z.string().nullable(),
});

export const toAcknowledgementJson = (
  messageId: string,
  { at, by, note }: Acknowledgement,
): z.infer<typeof acknowledgementSchema> => ({
  message_id: messageId,
  acknowledged_at: toIso(at),
  acknowledged_by: toActorJson(by),
  note,
});
