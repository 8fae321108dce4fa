import {
  badges,
  defaultDigestAt,
  digestIntervals,
  type QuietHours,
  type Subscription,
} from '@tocsin/shared/domain/push/subscription.ts';
import { isTimezone } from '@tocsin/shared/platform/daily-hours.ts';
import type { Changes } from '@tocsin/shared/ports/documents.ts';
import { z } from 'zod';
import { optionalField, tagsField } from '../http/fields.ts';

const priorityForm = 'must be a whole number from 1 to 5';
const priority = z.number().int(priorityForm).min(1, priorityForm).max(5, priorityForm);

const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day from 00:00 to 23:59');
const timezone = z.string().refine(isTimezone, 'must be the name of a time zone, like Europe/Berlin');

const digestChoices = ['off', ...digestIntervals] as const;

const settings = {
  priority_threshold: priority,
  sound_enabled: z.boolean(),
  vibrate_enabled: z.boolean(),
  tags_filter: tagsField,
  notification_sound: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 of the characters A-Z, a-z, 0-9, ., _ and -'),
  allow_critical: z
    .boolean()
    .describe(
      'Priority 5 sounds on a muted iPhone, if the server and the app have the entitlement for critical alerts.',
    ),
  badge: z
    .enum(badges, { error: `must be ${badges.join(' or ')}` })
    .describe("The number on the app's icon: the account's unread messages, or unchanged by pushes."),
  digest: z
    .enum(digestChoices, { error: `must be ${digestIntervals.join(', ')} or off` })
    .describe('Collects messages of the priorities 1 to 3 and pushes them together. `1d`: daily at `digest_at`.'),
};
const maxPerMinute = 'must be a whole number from 1 to 1000';

/** Settings that are off by default; null turns them off. */
const extras = {
  quiet_hours: z
    .object({
      start: clock,
      end: clock,
      timezone,
      allow_priority: priority
        .nullable()
        .default(5)
        .describe('Messages of at least this priority are still pushed; null for none.'),
    })
    .refine(({ start, end }) => start !== end, 'start and end must differ')
    .describe(
      'Messages in these hours are not pushed; at their end one push reports the number. Crosses midnight if the end is the earlier time.',
    ),
  max_per_minute: z
    .number()
    .int(maxPerMinute)
    .min(1, maxPerMinute)
    .max(1_000, maxPerMinute)
    .describe('Further messages within a minute are combined into one push with their number.'),
  digest_at: clock.describe(`The local time of a daily digest. Default ${defaultDigestAt}.`),
  digest_timezone: timezone.describe("The daily digest's time zone. Default: the zone of the quiet hours, or UTC."),
};

const newSettings = {
  priority_threshold: optionalField(settings.priority_threshold),
  sound_enabled: optionalField(settings.sound_enabled),
  vibrate_enabled: optionalField(settings.vibrate_enabled),
  tags_filter: optionalField(settings.tags_filter),
  notification_sound: optionalField(settings.notification_sound),
  allow_critical: optionalField(settings.allow_critical),
  badge: optionalField(settings.badge),
  digest: optionalField(settings.digest),
  digest_at: optionalField(extras.digest_at),
  digest_timezone: optionalField(extras.digest_timezone),
  max_per_minute: optionalField(extras.max_per_minute),
};

/** The settings that a team sets; null means omitted. */
export const teamSettingsField = optionalField(
  z.object({
    ...newSettings,
    quiet_hours: z.null({ error: 'must be omitted, because each member sets them' }).optional(),
  }),
);

/** Fields of a new subscription; null means omitted. */
export const newSubscriptionFields = {
  web_notifications_enabled: optionalField(z.boolean()),
  mobile_notifications_enabled: optionalField(z.boolean()),
  mobile_notification_settings: optionalField(
    z.object({ ...newSettings, quiet_hours: optionalField(extras.quiet_hours) }),
  ),
};

/** Fields of a change; null only turns settings off. */
export const changedSubscriptionFields = {
  web_notifications_enabled: z.boolean().optional(),
  mobile_notifications_enabled: z.boolean().optional(),
  mobile_notification_settings: z
    .object({
      ...settings,
      quiet_hours: extras.quiet_hours.nullable(),
      max_per_minute: extras.max_per_minute.nullable(),
      digest_at: extras.digest_at.nullable(),
      digest_timezone: extras.digest_timezone.nullable(),
    })
    .partial()
    .optional(),
};

interface SentFields {
  readonly web_notifications_enabled?: boolean | undefined;
  readonly mobile_notifications_enabled?: boolean | undefined;
  readonly mobile_notification_settings?:
    | {
        readonly priority_threshold?: number | undefined;
        readonly sound_enabled?: boolean | undefined;
        readonly vibrate_enabled?: boolean | undefined;
        readonly tags_filter?: readonly string[] | undefined;
        readonly notification_sound?: string | undefined;
        readonly allow_critical?: boolean | undefined;
        readonly badge?: Subscription['badge'] | undefined;
        readonly digest?: (typeof digestChoices)[number] | undefined;
        readonly digest_at?: string | null | undefined;
        readonly digest_timezone?: string | null | undefined;
        readonly quiet_hours?: z.output<typeof extras.quiet_hours> | null | undefined;
        readonly max_per_minute?: number | null | undefined;
      }
    | undefined;
}

/** Returns the changes of the subscription; omitted fields stay. */
export function settingsOf(fields: SentFields): Changes<Subscription> {
  const sent = fields.mobile_notification_settings ?? {};
  const all = {
    webEnabled: fields.web_notifications_enabled,
    mobileEnabled: fields.mobile_notifications_enabled,
    priorityThreshold: sent.priority_threshold,
    soundEnabled: sent.sound_enabled,
    vibrateEnabled: sent.vibrate_enabled,
    tagsFilter: sent.tags_filter,
    notificationSound: sent.notification_sound,
    allowCritical: sent.allow_critical,
    badge: sent.badge,
    digest: sent.digest === 'off' ? null : sent.digest,
    digestAt: sent.digest_at,
    digestTimezone: sent.digest_timezone,
    quietHours: sent.quiet_hours && toQuietHours(sent.quiet_hours),
    maxPerMinute: sent.max_per_minute,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function toQuietHours({
  start,
  end,
  timezone,
  allow_priority: allowPriority,
}: z.output<typeof extras.quiet_hours>): QuietHours {
  return { start, end, timezone, allowPriority };
}
