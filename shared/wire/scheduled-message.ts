import { z } from 'zod';
import { scheduledStates, type ScheduledMessage } from '../domain/messages/scheduled-message.ts';
import type { Message, StoredMessage } from '../domain/messages/message.ts';
import { toIso } from '../domain/to-iso.ts';
import { messageSchema, toMessageJson, type MessageJson, type MessageView } from './message.ts';

const waitingFields = {
  offset: z.int().nullable().describe('Offset in the log; null until the message is appended.'),
  scheduled_for: z.iso.datetime().describe('When the message is appended to the log.'),
};

/** The response to a publish: the message, and when it will be published if it is scheduled. */
export const publishedSchema = messageSchema.extend({
  ...waitingFields,
  scheduled_for: waitingFields.scheduled_for.optional().describe('Only for a scheduled message: its time.'),
});

export const scheduledMessageSchema = messageSchema
  .extend({
    ...waitingFields,
    state: z.enum(scheduledStates),
    reason: z.string().nullable().describe('Why the message was dropped; null in other states.'),
  })
  .meta({ id: 'ScheduledMessage' });

type SchemaJson = z.infer<typeof scheduledMessageSchema>;

/** Lists are read-only, as in messages. */
export type ScheduledMessageJson = Omit<SchemaJson, 'tags' | 'actions'> & Pick<MessageJson, 'tags' | 'actions'>;

/** Returns the JSON of a message that waits for its time, or did when a publish was repeated. */
export function toWaitingJson(
  message: Message | StoredMessage,
  of: { topicName: string; view: MessageView; scheduledFor: number },
) {
  return {
    ...toMessageJson(message, of.topicName, of.view),
    offset: 'offset' in message ? message.offset : null,
    scheduled_for: toIso(of.scheduledFor),
  };
}

/** `message` is the message as it stands: in the store once it is delivered. */
export function toScheduledMessageJson(
  { scheduledFor, state, reason }: ScheduledMessage,
  { message, topicName, view }: { message: Message | StoredMessage; topicName: string; view: MessageView },
): ScheduledMessageJson {
  return { ...toWaitingJson(message, { topicName, view, scheduledFor }), state, reason };
}
