import { z } from 'zod';
import { isoOrNull, toIso } from '../domain/to-iso.ts';
import type { Topic } from '../domain/topics/topic.ts';

/** A topic in lists. */
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
      .describe("Maximum number of days that messages are kept. Absent: the limit of the owner's tier applies."),
    archive: z
      .boolean()
      .optional()
      .describe(
        'Whether expired messages are archived before they are removed. Only for callers who manage the topic.',
      ),
    message_count: z.int(),
    subscriber_count: z.int(),
    created_at: z.iso.datetime(),
    last_message_at: z.iso.datetime().nullable(),
    can_manage: z.boolean(),
  })
  .meta({ id: 'Topic' });

export type TopicJson = z.infer<typeof topicSchema>;

/** The fields of a topic that do not come from its document. */
export interface TopicExtras {
  readonly stats: { readonly messageCount: number; readonly lastMessageAt: number | null };
  /** Whether the caller may manage the topic. */
  readonly canManage: boolean;
  /** The setting of topics without one of their own. */
  readonly archiveDefault: boolean;
}

export function toTopicJson(topic: Topic, { stats, canManage, archiveDefault }: TopicExtras): TopicJson {
  return {
    id: topic.id,
    name: topic.name,
    owner_id: topic.ownerId,
    team_id: topic.teamId,
    access_level: topic.accessLevel,
    description: topic.description,
    is_discoverable: topic.isDiscoverable,
    icon_name: topic.iconName,
    icon_color: topic.iconColor,
    ...(topic.retentionDays === null ? {} : { retention_days: topic.retentionDays }),
    ...(canManage ? { archive: topic.archive ?? archiveDefault } : {}),
    message_count: stats.messageCount,
    subscriber_count: topic.subscriberCount,
    created_at: toIso(topic.createdAt),
    last_message_at: isoOrNull(stats.lastMessageAt),
    can_manage: canManage,
  };
}
