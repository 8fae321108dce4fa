import { digestIntervals, type DigestInterval, type MobileSettings } from './subscription.ts';

/** The settings that a team sets. The switches and the quiet hours are the member's. */
export type TeamSettings = Omit<MobileSettings, 'mobileEnabled' | 'webEnabled' | 'quietHours'>;

/** A subscription that a team sets for its members. Times are milliseconds since the epoch. */
export interface TeamSubscription {
  readonly id: string;
  readonly version: number;
  readonly teamId: string;
  /** A topic of the team. */
  readonly topicId: string;
  /** Whether it covers all members, also those who join later. Otherwise, documents list the members. */
  readonly isForAll: boolean;
  readonly isMandatory: boolean;
  readonly settings: TeamSettings;
  readonly createdAt: number;
  /** When it ended. Until its document is removed, subscriptions of members remain to be ended. */
  readonly endedAt: number | null;
  /** When members began to be subscribed or unsubscribed; null when none remain. */
  readonly pendingSince: number | null;
  /** Members who joined before this time are subscribed; null at the start. */
  readonly doneUpTo: number | null;
}

/** A member whom a team subscription names. */
export interface TeamSubscriptionMember {
  readonly id: string;
  readonly version: number;
  readonly teamSubscriptionId: string;
  readonly teamId: string;
  readonly userId: string;
}

/** Returns the one that applies to a member whom all of these cover: a mandatory one, then the newest; null if none. */
export function effectiveOf(covering: readonly TeamSubscription[]): TeamSubscription | null {
  const [first] = [...covering].sort(
    (a, b) => Number(b.isMandatory) - Number(a.isMandatory) || b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1),
  );
  return first ?? null;
}

type Bound = Pick<
  MobileSettings,
  'mobileEnabled' | 'webEnabled' | 'priorityThreshold' | 'tagsFilter' | 'maxPerMinute' | 'digest'
>;

/** Settings of older versions have no digest. */
const lengthOf = (digest: DigestInterval | null | undefined): number =>
  digest === null || digest === undefined ? 0 : 1 + digestIntervals.indexOf(digest);

/**
 * Returns the least change of the settings after which everything that the team set is pushed, in no longer digest;
 * empty if it already is.
 * A mandatory subscription allows no settings that need a change. Quiet hours, sound and vibration are not bound.
 */
export function boundChanges(settings: Bound, team: TeamSettings): Partial<Bound> {
  const missing = team.tagsFilter.filter((tag) => !settings.tagsFilter.includes(tag));
  const isFiltered = settings.tagsFilter.length > 0;
  const mostPerMinute = team.maxPerMinute ?? Infinity;
  return {
    ...(settings.mobileEnabled ? {} : { mobileEnabled: true }),
    ...(settings.webEnabled ? {} : { webEnabled: true }),
    ...(settings.priorityThreshold > team.priorityThreshold ? { priorityThreshold: team.priorityThreshold } : {}),
    ...(isFiltered && team.tagsFilter.length === 0 ? { tagsFilter: [] } : {}),
    ...(isFiltered && missing.length > 0 ? { tagsFilter: [...settings.tagsFilter, ...missing] } : {}),
    ...((settings.maxPerMinute ?? Infinity) < mostPerMinute ? { maxPerMinute: team.maxPerMinute } : {}),
    ...(lengthOf(settings.digest) > lengthOf(team.digest) ? { digest: team.digest ?? null } : {}),
  };
}
