import { z } from 'zod';
import type { DeadLetter } from '../domain/push/dead-letter.ts';
import { toIso } from '../domain/to-iso.ts';

/** The pushes of one message that failed permanently. */
export const deadLetterSchema = z.object({
  id: z.string().describe('ID of the failed job.'),
  message_id: z.string(),
  topic_id: z.string(),
  topic: z.string().nullable().describe('Name of the topic. Null if the topic no longer exists.'),
  devices: z
    .int()
    .nullable()
    .describe('Number of devices of the failed pushes. Null if the job failed before it selected devices.'),
  reason: z.string(),
  failed_at: z.iso.datetime(),
});

export function toDeadLetterJson(letter: DeadLetter): z.infer<typeof deadLetterSchema> {
  return {
    id: letter.id,
    message_id: letter.messageId,
    topic_id: letter.topicId,
    topic: letter.topic,
    devices: letter.devices,
    reason: letter.reason,
    failed_at: toIso(letter.failedAt),
  };
}
