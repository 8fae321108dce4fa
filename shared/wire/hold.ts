import { z } from 'zod';
import type { Topic } from '../domain/topics/topic.ts';

/** Whether a topic is under legal hold. */
export const holdSchema = z.object({ topic: z.string(), topic_id: z.uuid(), legal_hold: z.boolean() });

export function toHoldJson({ name, id, isHeld }: Topic): z.infer<typeof holdSchema> {
  return { topic: name, topic_id: id, legal_hold: isHeld };
}
