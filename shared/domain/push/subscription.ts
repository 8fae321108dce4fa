/** A user's wish to be notified of a topic. It gives no access. Times are milliseconds since the epoch. */
export interface Subscription {
  readonly id: string;
  readonly version: number;
  readonly userId: string;
  readonly topicId: string;
  readonly createdAt: number;
  readonly lastViewedAt: number | null;
  readonly lastNotifiedAt: number | null;
  readonly isPinned: boolean;
  readonly webEnabled: boolean;
  readonly mobileEnabled: boolean;
  /** Only messages of at least this priority are pushed: 1–5. */
  readonly priorityThreshold: number;
  /** Only messages that share a tag with it are pushed; empty: all. Compared exactly. */
  readonly tagsFilter: readonly string[];
  readonly soundEnabled: boolean;
  readonly vibrateEnabled: boolean;
  readonly notificationSound: string;
  /** When nothing is pushed at once; null: never. */
  readonly quietHours: QuietHours | null;
  /** More messages within a minute are pushed as one that says how many; null: no limit. */
  readonly maxPerMinute: number | null;
}

/** Hours of every day in which messages are not pushed; how many came is, at their end. `start` and `end` are `HH:MM`. */
export interface QuietHours {
  readonly start: string;
  readonly end: string;
  /** An IANA name. */
  readonly timezone: string;
  /** Messages of at least this priority are pushed all the same; null: none. */
  readonly allowPriority: number | null;
}

/** What of a subscription decides whether and how a message is pushed. */
export type MobileSettings = Pick<
  Subscription,
  | 'mobileEnabled'
  | 'priorityThreshold'
  | 'tagsFilter'
  | 'soundEnabled'
  | 'vibrateEnabled'
  | 'notificationSound'
  | 'quietHours'
  | 'maxPerMinute'
>;

export const defaultMobileSettings: MobileSettings = {
  mobileEnabled: true,
  priorityThreshold: 1,
  tagsFilter: [],
  soundEnabled: true,
  vibrateEnabled: true,
  notificationSound: 'default',
  quietHours: null,
  maxPerMinute: null,
};
