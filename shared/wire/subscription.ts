import { z } from 'zod';
import {
  badges,
  defaultDigestAt,
  digestIntervals,
  type QuietHours,
  type Subscription,
} from '../domain/push/subscription.ts';
import type { TeamSettings, TeamSubscription } from '../domain/push/team-subscription.ts';
import { isoOrNull, toIso } from '../domain/to-iso.ts';
import type { Topic } from '../domain/topics/topic.ts';
import type { TopicExtras } from './topic.ts';

const settingsFields = {
  priority_threshold: z.int().min(1).max(5),
  sound_enabled: z.boolean(),
  vibrate_enabled: z.boolean(),
  tags_filter: z.array(z.string()),
  notification_sound: z.string(),
  max_per_minute: z.int().optional().describe('Absent: no limit.'),
  allow_critical: z.boolean(),
  badge: z.enum(badges),
  digest: z.enum(['off', ...digestIntervals]),
  digest_at: z.string().optional().describe('The time of day of a daily digest; absent for others.'),
  digest_timezone: z.string().optional().describe('Absent: the zone of the quiet hours, or UTC.'),
};

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
      ...settingsFields,
      quiet_hours: z
        .object({
          start: z.string(),
          end: z.string(),
          timezone: z.string(),
          allow_priority: z.int().min(1).max(5).nullable(),
        })
        .optional()
        .describe('Absent: no quiet hours.'),
    }),
    is_pinned: z.boolean(),
    unread_count: z.int(),
    message_count: z.int(),
    subscriber_count: z.int(),
    team_subscription_id: z.uuid().nullable().describe('The team subscription that set it, or null.'),
    mandatory: z.boolean().describe('Whether it cannot be removed and pushes at least what the team set.'),
    team_settings: z.object(settingsFields).nullable().describe('The settings that the team set, or null.'),
  })
  .meta({ id: 'Subscription' });

export type SubscriptionJson = z.infer<typeof subscriptionSchema>;

/** The fields of a subscription that come from neither its document nor the topic's. */
export interface SubscriptionExtras {
  readonly stats: TopicExtras['stats'];
  readonly unreadCount: number;
  /** The team subscription that applies, or null. */
  readonly teamSubscription: Pick<TeamSubscription, 'id' | 'isMandatory' | 'settings'> | null;
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
    mobile_notification_settings: { ...toSettingsJson(subscription), ...toQuietHoursJson(subscription.quietHours) },
    is_pinned: subscription.isPinned,
    unread_count: extras.unreadCount,
    message_count: extras.stats.messageCount,
    subscriber_count: topic.subscriberCount,
    team_subscription_id: extras.teamSubscription?.id ?? null,
    mandatory: extras.teamSubscription?.isMandatory ?? false,
    team_settings: extras.teamSubscription === null ? null : toSettingsJson(extras.teamSubscription.settings),
  };
}

function toQuietHoursJson(
  quietHours: QuietHours | null,
): Pick<SubscriptionJson['mobile_notification_settings'], 'quiet_hours'> {
  if (quietHours === null) return {};
  const { start, end, timezone, allowPriority } = quietHours;
  return { quiet_hours: { start, end, timezone, allow_priority: allowPriority } };
}

function toSettingsJson(settings: TeamSettings): TeamSubscriptionJson['mobile_notification_settings'] {
  return {
    priority_threshold: settings.priorityThreshold,
    sound_enabled: settings.soundEnabled,
    vibrate_enabled: settings.vibrateEnabled,
    tags_filter: [...settings.tagsFilter],
    notification_sound: settings.notificationSound,
    ...(settings.maxPerMinute === null ? {} : { max_per_minute: settings.maxPerMinute }),
    allow_critical: settings.allowCritical === true,
    badge: settings.badge ?? 'unread',
    ...toDigestJson(settings),
  };
}

function toDigestJson({
  digest,
  digestAt,
  digestTimezone,
}: TeamSettings): Pick<
  TeamSubscriptionJson['mobile_notification_settings'],
  'digest' | 'digest_at' | 'digest_timezone'
> {
  if (digest !== '1d') return { digest: digest ?? 'off' };
  return {
    digest,
    digest_at: digestAt ?? defaultDigestAt,
    ...(digestTimezone === null ? {} : { digest_timezone: digestTimezone }),
  };
}

export const teamSubscriptionSchema = z
  .object({
    id: z.uuid(),
    team_id: z.uuid(),
    topic_id: z.uuid(),
    topic_name: z.string(),
    members: z.union([z.literal('all'), z.array(z.uuid())]).describe('The named members, or all.'),
    mobile_notification_settings: z.object(settingsFields),
    mandatory: z.boolean(),
    subscriber_count: z
      .int()
      .describe('The members who have the subscription. It grows after the response if the team is large.'),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'TeamSubscription' });

export type TeamSubscriptionJson = z.infer<typeof teamSubscriptionSchema>;

export function toTeamSubscriptionJson(
  made: TeamSubscription,
  extras: { readonly topicName: string; readonly named: readonly string[]; readonly subscriberCount: number },
): TeamSubscriptionJson {
  return {
    id: made.id,
    team_id: made.teamId,
    topic_id: made.topicId,
    topic_name: extras.topicName,
    members: made.isForAll ? 'all' : [...extras.named],
    mobile_notification_settings: toSettingsJson(made.settings),
    mandatory: made.isMandatory,
    subscriber_count: extras.subscriberCount,
    created_at: toIso(made.createdAt),
  };
}
