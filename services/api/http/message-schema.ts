import { z } from 'zod';

/** The message object, the same in every answer. All keys are always present. */
export const messageSchema = z.object({
  id: z.uuid(),
  topic_id: z.uuid(),
  topic: z.string(),
  message: z.string(),
  title: z.string().nullable(),
  priority: z.int().min(1).max(5),
  tags: z.array(z.string()),
  timestamp: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  offset: z.int(),
  markdown: z.boolean(),
  is_deleted: z.boolean(),
  is_edited: z.boolean(),
  deleted_at: z.iso.datetime().nullable(),
  edited_at: z.iso.datetime().nullable(),
}).meta({ id: 'Message' });
