import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { TeamSubscription } from '@tocsin/shared/domain/push/team-subscription.ts';
import { teamSubscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { removeSubscription } from '@tocsin/shared/operations/topics/remove-subscription.ts';
import { findRoles } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { ApiDeps } from '../../api-deps.ts';

export interface ReadableSubscription {
  readonly subscription: Subscription;
  readonly topic: Topic;
  /** The team subscription that applies, or null. */
  readonly teamSubscription: TeamSubscription | null;
}

/**
 * Returns the caller's subscriptions whose topic their user may read, in the given order. A subscription grants no
 * access: others are omitted and removed. The user's rights count, not those of the credential.
 */
export async function readableSubscriptions(
  deps: Pick<ApiDeps, 'engine'>,
  caller: AccountCaller,
  found: readonly Subscription[],
): Promise<ReadableSubscription[]> {
  const { documents } = deps.engine;
  const byId = new Map(
    (
      await documents.getMany(
        topics,
        found.map(({ topicId }) => topicId),
      )
    ).map((topic) => [topic.id, topic]),
  );
  const needsRoles = [...byId.values()].some((topic) => topic.accessLevel === 'private' && topic.teamId !== null);
  const roles = needsRoles ? await findRoles(documents, caller.userId) : new Map();
  const user: AccountCaller = { ...caller, scopes: null };
  const byTeams = await findByTeams(deps, found);
  const readable: ReadableSubscription[] = [];
  const lost: Subscription[] = [];
  for (const subscription of found) {
    const topic = byId.get(subscription.topicId);
    if (topic === undefined) continue; // the topic's erasure removes it
    const teamSubscription = byTeams.get(subscription.teamSubscriptionId ?? '') ?? null;
    const isReadable = mayUseTopic(user, topic, 'read', roles.get(topic.teamId ?? '') ?? null);
    if (isReadable) readable.push({ subscription, topic, teamSubscription });
    else lost.push(subscription);
  }
  await Promise.all(lost.map(({ id }) => removeSubscription(documents, id)));
  return readable;
}

/** Returns the team subscriptions that apply, by ID: subscriptions name one for a while after its end. */
async function findByTeams(
  { engine: { documents } }: Pick<ApiDeps, 'engine'>,
  found: readonly Subscription[],
): Promise<Map<string, TeamSubscription>> {
  const ids = [...new Set(found.flatMap(({ teamSubscriptionId }) => teamSubscriptionId ?? []))];
  if (ids.length === 0) return new Map();
  const applying = (await documents.getMany(teamSubscriptions, ids)).filter(({ endedAt }) => endedAt === null);
  return new Map(applying.map((one) => [one.id, one]));
}
