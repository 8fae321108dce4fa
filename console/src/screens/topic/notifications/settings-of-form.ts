import type { Subscription } from '../../../api/wire.ts';
import type { FormValues } from '../../../parts/form.tsx';

type Settings = Subscription['mobile_notification_settings'];

/** The body of a change and of a preview; null turns a setting off. */
export interface ChangedNotifications {
  readonly mobile_notifications_enabled: boolean;
  readonly web_notifications_enabled: boolean;
  readonly mobile_notification_settings: Pick<
    Settings,
    'priority_threshold' | 'tags_filter' | 'allow_critical' | 'badge' | 'digest'
  > & {
    readonly quiet_hours: Settings['quiet_hours'] | null;
    readonly max_per_minute: number | null;
    readonly digest_at: string | null;
    readonly digest_timezone: string | null;
  };
}

export function settingsOfForm(values: FormValues): ChangedNotifications {
  const perMinute = values.text('max_per_minute');
  const digest = values.text('digest') as Settings['digest'];
  const allowed = Number(values.text('allow_priority'));
  return {
    mobile_notifications_enabled: values.isChecked('mobile_notifications_enabled'),
    web_notifications_enabled: values.isChecked('web_notifications_enabled'),
    mobile_notification_settings: {
      priority_threshold: Number(values.text('priority_threshold')),
      tags_filter: values
        .text('tags_filter')
        .split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== ''),
      quiet_hours: values.isChecked('has_quiet_hours')
        ? {
            start: values.text('quiet_start'),
            end: values.text('quiet_end'),
            timezone: values.text('timezone'),
            allow_priority: allowed === 0 ? null : allowed,
          }
        : null,
      max_per_minute: perMinute === '' ? null : Number(perMinute),
      digest,
      digest_at: digest === '1d' ? values.text('digest_at') : null,
      digest_timezone: digest === '1d' ? values.text('digest_timezone') : null,
      allow_critical: values.isChecked('allow_critical'),
      badge: values.isChecked('has_badge') ? 'unread' : 'none',
    },
  };
}

/** The body of a preview: it counts the messages that reach any device. */
export function previewed({
  mobile_notifications_enabled: toPhones,
  web_notifications_enabled: toBrowsers,
  mobile_notification_settings,
}: Pick<Subscription, keyof ChangedNotifications> | ChangedNotifications): object {
  return { mobile_notifications_enabled: toPhones || toBrowsers, mobile_notification_settings };
}
