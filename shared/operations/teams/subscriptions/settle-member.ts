import type { Subscription } from '../../../domain/push/subscription.ts';
import { defaultMobileSettings } from '../../../domain/push/subscription.ts';
import { boundChanges, effectiveOf, type TeamSubscription } from '../../../domain/push/team-subscription.ts';
import { write, type Documents, type Write } from '../../../ports/documents.ts';
import { commitWithinQuota } from '../../../collections/quota-guards.ts';
import {
  findNamings,
  findOwnSubscription,
  findTeamSubscriptionsOfTopic,
  subscriptions,
  subscriptionsPerAccount,
  teamSubscriptions,
} from '../../../collections/subscriptions-collection.ts';
import { findMember, teamMembers } from '../../../collections/teams.ts';
import { topics } from '../../../collections/topics.ts';

export interface SettleDeps {
  readonly documents: Documents;
  readonly makeId: () => string;
  readonly clock: () => number;
}

/** A user and a topic of a team. */
export interface Settled {
  readonly teamId: string;
  readonly userId: string;
  readonly topicId: string;
}

/**
 * Brings the user's subscription to the topic in line with the team's subscriptions. Idempotent.
 *
 * - A covered member without a subscription gets one with the team's settings, unless the account has reached its limit
 *   of subscriptions.
 * - An existing subscription of a covered member keeps its settings, except for those that a mandatory one forbids.
 * - If no team subscription covers the user any more, a subscription that a team made ends, and others become the
 *   user's own again.
 *
 * Resolves with whether it changed something. Concurrent changes of the team subscriptions, the membership and the
 * topic are either seen or settle the member again.
 */
export async function settleMember(deps: SettleDeps, of: Settled): Promise<boolean> {
  if ((await decide(deps, of)).length === 0) return false;
  return commitWithinQuota(deps.documents, of.userId, async () => {
    const writes = await decide(deps, of);
    return { writes, result: writes.length > 0 };
  });
}

async function decide(deps: SettleDeps, of: Settled): Promise<Write[]> {
  const [subscription, effective] = await Promise.all([
    findOwnSubscription(deps.documents, of.userId, of.topicId),
    findEffective(deps.documents, of),
  ]);
  if (effective === null) return subscription === null ? [] : releaseWrites(subscription);
  const { team, conditions } = effective;
  const changes = subscription === null ? await makeWrites(deps, of, team) : takeOverWrites(subscription, team);
  return changes.length === 0 ? [] : [...changes, ...conditions];
}

/** Returns the writes that end what the team set: a subscription that it made is removed. */
export function releaseWrites(subscription: Subscription): Write[] {
  if (subscription.teamSubscriptionId === null) return [];
  if (subscription.isTeamMade !== true)
    return [write.update(subscriptions, subscription, { teamSubscriptionId: null, isTeamMade: null })];
  return [
    write.remove(subscriptions, subscription.id, subscription.version),
    write.increment(topics, subscription.topicId, { subscriberCount: -1 }),
  ];
}

/** Returns the team subscription that applies to the user, with the conditions of a commit under which it does. */
async function findEffective(
  documents: Documents,
  { teamId, userId, topicId }: Settled,
): Promise<{ team: TeamSubscription; conditions: Write[] } | null> {
  const [topic, member, existing, namings] = await Promise.all([
    documents.get(topics, topicId),
    findMember(documents, teamId, userId),
    findTeamSubscriptionsOfTopic(documents, topicId),
    findNamings(documents, teamId, userId),
  ]);
  if (topic?.teamId !== teamId || member === null) return null;
  const named = new Set(namings.map(({ teamSubscriptionId }) => teamSubscriptionId));
  const team = effectiveOf(existing.filter(({ id, isForAll }) => isForAll || named.has(id)));
  if (team === null) return null;
  const conditions = [
    write.require(topics, topic),
    write.require(teamSubscriptions, team),
    // An update, so that a concurrent end of the membership reads the subscriptions again.
    write.update(teamMembers, member, {}),
  ];
  return { team, conditions };
}

async function makeWrites(
  { documents, makeId, clock }: SettleDeps,
  { userId, topicId }: Settled,
  team: TeamSubscription,
): Promise<Write[]> {
  const count = await documents.count(subscriptions, { index: 'byUser', equals: { userId } });
  if (count >= subscriptionsPerAccount) return [];
  return [
    write.insert(subscriptions, {
      id: makeId(),
      userId,
      topicId,
      createdAt: clock(),
      lastViewedAt: null,
      lastNotifiedAt: null,
      isPinned: false,
      ...defaultMobileSettings,
      ...team.settings,
      teamSubscriptionId: team.id,
      isTeamMade: true,
    }),
    write.increment(topics, topicId, { subscriberCount: 1 }),
  ];
}

function takeOverWrites(subscription: Subscription, team: TeamSubscription): Write[] {
  const changes = team.isMandatory ? boundChanges(subscription, team.settings) : {};
  if (subscription.teamSubscriptionId === team.id && Object.keys(changes).length === 0) return [];
  return [write.update(subscriptions, subscription, { ...changes, teamSubscriptionId: team.id })];
}
