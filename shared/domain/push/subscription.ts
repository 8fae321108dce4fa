/** A user's subscription to a topic. It grants no access. Times are milliseconds since the epoch. */
export interface Subscription {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  readonly topicId: string;
  readonly createdAt: number;
  readonly lastViewedAt: number | null;
  readonly lastNotifiedAt: number | null;
  readonly isPinned: boolean;
  /** Whether the user's browsers receive pushes. */
  readonly webEnabled: boolean;
  /** Whether the user's other devices receive pushes. */
  readonly mobileEnabled: boolean;
  /** Minimum priority of pushed messages: 1–5. */
  readonly priorityThreshold: number;
  /** Only messages with one of these exact tags are pushed; empty: all. */
  readonly tagsFilter: readonly string[];
  readonly soundEnabled: boolean;
  readonly vibrateEnabled: boolean;
  readonly notificationSound: string;
  /** Hours without immediate pushes; null: none. */
  readonly quietHours: QuietHours | null;
  /** Messages beyond this number per minute are pushed as one summary; null: no limit. */
  readonly maxPerMinute: number | null;
  /** Whether priority 5 may sound on a muted phone. Null in subscriptions of older versions: false. */
  readonly allowCritical: boolean | null;
  /** The number on the app's icon after a push. Null in subscriptions of older versions: `unread`. */
  readonly badge: Badge | null;
  /** Messages of the priorities 1 to 3 are collected and pushed together; null: off. */
  readonly digest: DigestInterval | null;
  /** `HH:MM`, for the interval `1d`; null: `defaultDigestAt`. */
  readonly digestAt: string | null;
  /** IANA time zone name, for the interval `1d`; null: the zone of the quiet hours, or UTC. */
  readonly digestTimezone: string | null;
  /** The team subscription that applies; null: none. It may have ended meanwhile. */
  readonly teamSubscriptionId: string | null;
  /** Whether a team made it, so that it ends with the team subscription. Null: false. */
  readonly isTeamMade: boolean | null;
}

/** `unread`: the account's unread messages of all subscriptions; `none`: pushes leave the number as it is. */
export const badges = ['unread', 'none'] as const;
export type Badge = (typeof badges)[number];

/** From the first collected message to the push; `1d`: once a day at a time of day. Ascending. */
export const digestIntervals = ['15m', '1h', '1d'] as const;
export type DigestInterval = (typeof digestIntervals)[number];

export const defaultDigestAt = '08:00';

/** Daily hours without pushes; a summary follows at the end. `start` and `end` are `HH:MM`. */
export interface QuietHours {
  readonly start: string;
  readonly end: string;
  /** IANA time zone name. */
  readonly timezone: string;
  /** Messages of at least this priority are pushed during quiet hours; null: none. */
  readonly allowPriority: number | null;
}

/** The settings of a subscription that decide whether and how a message is pushed. */
export type MobileSettings = Pick<
  Subscription,
  | 'mobileEnabled'
  | 'webEnabled'
  | 'priorityThreshold'
  | 'tagsFilter'
  | 'soundEnabled'
  | 'vibrateEnabled'
  | 'notificationSound'
  | 'quietHours'
  | 'maxPerMinute'
  | 'allowCritical'
  | 'badge'
  | 'digest'
  | 'digestAt'
  | 'digestTimezone'
>;

export const defaultMobileSettings: MobileSettings = {
  mobileEnabled: true,
  webEnabled: true,
  priorityThreshold: 1,
  tagsFilter: [],
  soundEnabled: true,
  vibrateEnabled: true,
  notificationSound: 'default',
  quietHours: null,
  maxPerMinute: null,
  allowCritical: false,
  badge: 'unread',
  digest: null,
  digestAt: null,
  digestTimezone: null,
};
