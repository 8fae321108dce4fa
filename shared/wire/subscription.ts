import { z } from 'zod';
import { badges, type MobileSettings, type Subscription } from '../domain/push/subscription.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';
import type { Topic } from '../domain/topics/topic.ts';
import type { TopicExtras } from './topic.ts';

export const subscriptionSchema = z
  .object({
    id: z.uuid(),
    user_id: z.uuid(),
    topic_id: z.uuid(),
    topic_name: z.string(),
    topic_description: z.string(),
    access_level: z.enum(['PUBLIC', 'PRIVATE']),
    team_id: z.uuid().nullable(),
    icon_name: z.string().nullable(),
    icon_color: z.string().nullable(),
    created_at: z.iso.datetime(),
    last_viewed_at: z.iso.datetime().nullable(),
    last_notified_at: z.iso.datetime().nullable(),
    topic_last_message_at: z.iso.datetime().nullable(),
    web_notifications_enabled: z.boolean(),
    mobile_notifications_enabled: z.boolean(),
    mobile_notification_settings: z.object({
      priority_threshold: z.int().min(1).max(5),
      sound_enabled: z.boolean(),
      vibrate_enabled: z.boolean(),
      tags_filter: z.array(z.string()),
      notification_sound: z.string(),
      quiet_hours: z
        .object({
          start: z.string(),
          end: z.string(),
          timezone: z.string(),
          allow_priority: z.int().min(1).max(5).nullable(),
        })
        .optional()
        .describe('Absent: no quiet hours.'),
      max_per_minute: z.int().optional().describe('Absent: no limit.'),
      allow_critical: z.boolean(),
      badge: z.enum(badges),
    }),
    is_pinned: z.boolean(),
    unread_count: z.int(),
    message_count: z.int(),
    subscriber_count: z.int(),
  })
  .meta({ id: 'Subscription' });

export type SubscriptionJson = z.infer<typeof subscriptionSchema>;

/** The fields of a subscription that come from neither its document nor the topic's. */
export interface SubscriptionExtras {
  readonly stats: TopicExtras['stats'];
  readonly unreadCount: number;
}

export function toSubscriptionJson(
  subscription: Subscription,
  topic: Topic,
  extras: SubscriptionExtras,
): SubscriptionJson {
  return {
    id: subscription.id,
    user_id: subscription.userId,
    topic_id: topic.id,
    topic_name: topic.name,
    topic_description: topic.description,
    access_level: topic.accessLevel === 'public' ? 'PUBLIC' : 'PRIVATE',
    team_id: topic.teamId,
    icon_name: topic.iconName,
    icon_color: topic.iconColor,
    created_at: toIso(subscription.createdAt),
    last_viewed_at: isoOrNull(subscription.lastViewedAt),
    last_notified_at: isoOrNull(subscription.lastNotifiedAt),
    topic_last_message_at: isoOrNull(extras.stats.lastMessageAt),
    web_notifications_enabled: subscription.webEnabled,
    mobile_notifications_enabled: subscription.mobileEnabled,
    mobile_notification_settings: toSettingsJson(subscription),
    is_pinned: subscription.isPinned,
    unread_count: extras.unreadCount,
    message_count: extras.stats.messageCount,
    subscriber_count: topic.subscriberCount,
  };
}

function toSettingsJson({
  quietHours,
  maxPerMinute,
  ...settings
}: MobileSettings): SubscriptionJson['mobile_notification_settings'] {
  return {
    priority_threshold: settings.priorityThreshold,
    sound_enabled: settings.soundEnabled,
    vibrate_enabled: settings.vibrateEnabled,
    tags_filter: [...settings.tagsFilter],
    notification_sound: settings.notificationSound,
    ...(quietHours === null
      ? {}
      : {
          quiet_hours: {
            start: quietHours.start,
            end: quietHours.end,
            timezone: quietHours.timezone,
            allow_priority: quietHours.allowPriority,
          },
        }),
    ...(maxPerMinute === null ? {} : { max_per_minute: maxPerMinute }),
    allow_critical: settings.allowCritical === true,
    badge: settings.badge ?? 'unread',
  };
}
