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
}

/** What of a subscription decides whether and how a message is pushed. */
export type MobileSettings = Pick<
  Subscription,
  'mobileEnabled' | 'priorityThreshold' | 'tagsFilter' | 'soundEnabled' | 'vibrateEnabled' | 'notificationSound'
>;

export const defaultMobileSettings: MobileSettings = {
  mobileEnabled: true,
  priorityThreshold: 1,
  tagsFilter: [],
  soundEnabled: true,
  vibrateEnabled: true,
  notificationSound: 'default',
};
