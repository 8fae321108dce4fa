import type { TeamSubscription } from '@tocsin/shared/domain/push/team-subscription.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findNamed, subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { type TeamSubscriptionJson, toTeamSubscriptionJson } from '@tocsin/shared/wire/subscription.ts';

/** Returns the team subscriptions in the given order, without those whose topic is being deleted. */
export async function describeTeamSubscriptions(
  documents: Documents,
  made: readonly TeamSubscription[],
): Promise<TeamSubscriptionJson[]> {
  const found = await documents.pick(topics, [...new Set(made.map(({ topicId }) => topicId))], ['name']);
  const names = new Map(found.map(({ id, name }) => [id, name]));
  const described = made.map(async (one) => {
    const topicName = names.get(one.topicId);
    if (topicName === undefined) return [];
    const [named, subscriberCount] = await Promise.all([
      one.isForAll ? [] : findNamed(documents, one.id),
      documents.count(subscriptions, { index: 'byTeamSubscription', equals: { teamSubscriptionId: one.id } }),
    ]);
    return [toTeamSubscriptionJson(one, { topicName, named: named.map(({ userId }) => userId), subscriberCount })];
  });
  return (await Promise.all(described)).flat();
}
