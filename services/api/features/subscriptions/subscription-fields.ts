import type { Subscription } from '@tocsin/shared/domain/subscription.ts';
import type { Changes } from '@tocsin/shared/ports/documents.ts';
import { z } from 'zod';
import { optionalField, tagsField } from '../../http/fields.ts';

const priorityThreshold = 'must be a whole number from 1 to 5';

const settings = {
  priority_threshold: z.number().int(priorityThreshold).min(1, priorityThreshold).max(5, priorityThreshold),
  sound_enabled: z.boolean(),
  vibrate_enabled: z.boolean(),
  tags_filter: tagsField,
  notification_sound: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 of the characters A-Z, a-z, 0-9, ., _ and -'),
};

/** What a new subscription may say; null is the same as saying nothing. */
export const newSubscriptionFields = {
  web_notifications_enabled: optionalField(z.boolean()),
  mobile_notifications_enabled: optionalField(z.boolean()),
  mobile_notification_settings: optionalField(z.object({
    priority_threshold: optionalField(settings.priority_threshold),
    sound_enabled: optionalField(settings.sound_enabled),
    vibrate_enabled: optionalField(settings.vibrate_enabled),
    tags_filter: optionalField(settings.tags_filter),
    notification_sound: optionalField(settings.notification_sound),
  })),
};

/** What a change of a subscription may say; nothing of it can be null. */
export const changedSubscriptionFields = {
  web_notifications_enabled: z.boolean().optional(),
  mobile_notifications_enabled: z.boolean().optional(),
  mobile_notification_settings: z.object(settings).partial().optional(),
};

interface SentFields {
  readonly web_notifications_enabled?: boolean | undefined;
  readonly mobile_notifications_enabled?: boolean | undefined;
  readonly mobile_notification_settings?: {
    readonly priority_threshold?: number | undefined;
    readonly sound_enabled?: boolean | undefined;
    readonly vibrate_enabled?: boolean | undefined;
    readonly tags_filter?: readonly string[] | undefined;
    readonly notification_sound?: string | undefined;
  } | undefined;
}

/** What of the subscription the fields set; what they do not name stays. */
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
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
