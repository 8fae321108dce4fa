import type { Subscription } from '../domain/push/subscription.ts';
import type { TeamSubscription, TeamSubscriptionMember } from '../domain/push/team-subscription.ts';
import type { Collection, Documents } from '../ports/documents.ts';

/** The maximum number of subscriptions per account. */
export const subscriptionsPerAccount = 1_000;

export const subscriptions: Collection<Subscription> = {
  name: 'subscriptions',
  fields: {
    userId: 'text',
    topicId: 'text',
    createdAt: 'time',
    lastViewedAt: 'time',
    lastNotifiedAt: 'time',
    isPinned: 'boolean',
    webEnabled: 'boolean',
    mobileEnabled: 'boolean',
    priorityThreshold: 'integer',
    tagsFilter: 'json',
    soundEnabled: 'boolean',
    vibrateEnabled: 'boolean',
    notificationSound: 'text',
    quietHours: 'json',
    maxPerMinute: 'integer',
    allowCritical: 'boolean',
    badge: 'text',
    digest: 'text',
    digestAt: 'text',
    digestTimezone: 'text',
    teamSubscriptionId: 'text',
    isTeamMade: 'boolean',
  },
  uniqueKeys: { userTopic: ['userId', 'topicId'] },
  indexes: {
    byTopic: ['topicId', 'mobileEnabled'],
    byTopicFlags: ['topicId', 'mobileEnabled', 'webEnabled'],
    byUser: ['userId', 'createdAt'],
    byTeamSubscription: ['teamSubscriptionId'],
  },
};

/** The maximum number of subscriptions that a team sets, so that a member leaves with them in one commit. */
export const teamSubscriptionsMax = 100;

/** The maximum number of named members, so that a team subscription is made in one commit. */
export const namedMembersMax = 400;

export const teamSubscriptions: Collection<TeamSubscription> = {
  name: 'teamSubscriptions',
  fields: {
    teamId: 'text',
    topicId: 'text',
    isForAll: 'boolean',
    isMandatory: 'boolean',
    settings: 'json',
    createdAt: 'time',
    endedAt: 'time',
    pendingSince: 'time',
    doneUpTo: 'time',
  },
  uniqueKeys: {},
  indexes: { byTeam: ['teamId', 'createdAt'], byTopic: ['topicId', 'createdAt'], byPending: ['pendingSince'] },
};

export const teamSubscriptionMembers: Collection<TeamSubscriptionMember> = {
  name: 'teamSubscriptionMembers',
  fields: { teamSubscriptionId: 'text', teamId: 'text', userId: 'text' },
  uniqueKeys: { member: ['teamSubscriptionId', 'userId'] },
  indexes: { byMember: ['userId', 'teamId'] },
};

/** Returns the user's subscription to the topic, or null. */
export async function findOwnSubscription(
  documents: Documents,
  userId: string,
  topicId: string,
): Promise<Subscription | null> {
  const [found] = await documents.find(subscriptions, { index: 'userTopic', equals: { userId, topicId }, limit: 1 });
  return found ?? null;
}

/** More than the maximum, because ended ones remain for some time. */
const readMax = 2_000;

/** Returns the subscriptions that the team sets, newest first. */
export async function findTeamSubscriptions(documents: Documents, teamId: string): Promise<TeamSubscription[]> {
  const found = await documents.find(teamSubscriptions, {
    index: 'byTeam',
    equals: { teamId },
    descending: true,
    limit: readMax,
  });
  return found.filter(({ endedAt }) => endedAt === null);
}

/** Returns the subscriptions to the topic that its team sets, oldest first. */
export async function findTeamSubscriptionsOfTopic(documents: Documents, topicId: string): Promise<TeamSubscription[]> {
  const found = await documents.find(teamSubscriptions, { index: 'byTopic', equals: { topicId }, limit: readMax });
  return found.filter(({ endedAt }) => endedAt === null);
}

/** Returns the rows that name the user in subscriptions of the team. */
export function findNamings(documents: Documents, teamId: string, userId: string): Promise<TeamSubscriptionMember[]> {
  return documents.find(teamSubscriptionMembers, { index: 'byMember', equals: { userId, teamId }, limit: readMax });
}

/** Returns the rows of the members whom the team subscription names. */
export function findNamed(documents: Documents, teamSubscriptionId: string): Promise<TeamSubscriptionMember[]> {
  return documents.find(teamSubscriptionMembers, {
    index: 'member',
    equals: { teamSubscriptionId },
    limit: namedMembersMax,
  });
}
