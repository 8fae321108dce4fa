import type { TopicStats } from '@tocsin/shared/ports/messages.ts';
import { z } from 'zod';

/** The topic object of the interface, as lists show it. */
export const topicSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    owner_id: z.uuid(),
    team_id: z.uuid().nullable(),
    access_level: z.enum(['public', 'private']),
    description: z.string(),
    is_discoverable: z.boolean(),
    icon_name: z.string().nullable(),
    icon_color: z.string().nullable(),
    retention_days: z
      .int()
      .optional()
      .describe("For how many days at most its messages are kept; absent: as long as its owner's tier grants."),
    message_count: z.int(),
    subscriber_count: z.int(),
    created_at: z.iso.datetime(),
    last_message_at: z.iso.datetime().nullable(),
    can_manage: z.boolean(),
  })
  .meta({ id: 'Topic' });

export type TopicJson = z.infer<typeof topicSchema>;

export const noMessages: TopicStats = { messageCount: 0, lastMessageAt: null };
