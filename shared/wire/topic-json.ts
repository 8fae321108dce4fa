import { isoOrNull, toIso } from '../domain/to-iso.ts';
import type { Topic } from '../domain/topics/topic.ts';

/** What the topic's document does not say. */
export interface TopicFigures {
  readonly stats: { readonly messageCount: number; readonly lastMessageAt: number | null };
  /** Whether the caller manages the topic. */
  readonly canManage: boolean;
}

/** The topic object of the interface, as lists show it. */
export function toTopicJson(topic: Topic, { stats, canManage }: TopicFigures) {
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
    message_count: stats.messageCount,
    subscriber_count: topic.subscriberCount,
    created_at: toIso(topic.createdAt),
    last_message_at: isoOrNull(stats.lastMessageAt),
    can_manage: canManage,
  };
}
