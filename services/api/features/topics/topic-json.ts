import { isoOrNull, toIso } from '@tocsin/shared/domain/to-iso.ts';
import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { TopicStats } from '@tocsin/shared/ports/messages.ts';
import { z } from 'zod';

/** The topic object of the interface, as lists show it. */
export const topicSchema = z.object({
  id: z.uuid(),
  name: z.string(),
  owner_id: z.uuid(),
  team_id: z.uuid().nullable(),
  access_level: z.enum(['public', 'private']),
  description: z.string(),
  is_discoverable: z.boolean(),
  icon_name: z.string().nullable(),
  icon_color: z.string().nullable(),
  retention_days: z.int().nullable().describe("For how many days at most its messages are kept; null: as long as its owner's tier grants."),
  message_count: z.int(),
  subscriber_count: z.int(),
  created_at: z.iso.datetime(),
  last_message_at: z.iso.datetime().nullable(),
  can_manage: z.boolean(),
}).meta({ id: 'Topic' });

export type TopicJson = z.infer<typeof topicSchema>;

/** What the topic's document does not say. */
export interface TopicFigures {
  readonly stats: TopicStats;
  /** Whether the caller manages the topic. */
  readonly canManage: boolean;
}

export function toTopicJson(topic: Topic, { stats, canManage }: TopicFigures): TopicJson {
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
    retention_days: topic.retentionDays,
    message_count: stats.messageCount,
    subscriber_count: topic.subscriberCount,
    created_at: toIso(topic.createdAt),
    last_message_at: isoOrNull(stats.lastMessageAt),
    can_manage: canManage,
  };
}

export const noMessages: TopicStats = { messageCount: 0, lastMessageAt: null };
