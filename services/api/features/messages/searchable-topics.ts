import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { subscriptions, subscriptionsPerAccount } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { findRoles } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { TopicSpan, TopicSpans } from '../../directory/topic-spans.ts';

/** The ceiling of the topics of an account, and with them those of a team. */
const topicsPerOwner = 10_000;
/** Harm prevented: a member of many large teams asking about more topics than one question can hold. */
const topicsMax = 20_000;

type SpanDeps = { readonly engine: { readonly documents: Documents }; readonly topicSpans: TopicSpans };

/** What a search spans: the topics that the caller owns, is subscribed to or reaches through a team, and may read by this credential. */
export function searchableTopics(
  { engine: { documents }, topicSpans }: SpanDeps,
  caller: AccountCaller,
): Promise<TopicSpan> {
  return topicSpans.get(keyOf('searchable', caller), async () => {
    const roles = await findRoles(documents, caller.userId);
    const found = await Promise.all([
      documents.find(topics, { index: 'byOwner', equals: { ownerId: caller.userId }, limit: topicsPerOwner }),
      subscribed(documents, caller.userId),
      ofTeams(documents, roles),
    ]);
    return readable(caller, found.flat(), roles);
  });
}

/** The topics that the caller is subscribed to and may read by this credential: a subscription gives no access. */
export function subscribedTopics(
  { engine: { documents }, topicSpans }: SpanDeps,
  caller: AccountCaller,
): Promise<TopicSpan> {
  return topicSpans.get(keyOf('subscribed', caller), async () => {
    const found = await subscribed(documents, caller.userId);
    const needsRoles = found.some(({ accessLevel, teamId }) => accessLevel === 'private' && teamId !== null);
    return readable(caller, found, needsRoles ? await findRoles(documents, caller.userId) : new Map());
  });
}

/** Of a credential it only counts whether it is a login or a key. */
const keyOf = (span: 'searchable' | 'subscribed', { userId, scopes }: AccountCaller): string =>
  `${span} ${scopes === null ? 'login' : 'key'} ${userId}`;

function readable(caller: AccountCaller, found: readonly Topic[], roles: ReadonlyMap<string, Role>): TopicSpan {
  const open = found.filter((topic) => mayUseTopic(caller, topic, 'read', roles.get(topic.teamId ?? '') ?? null));
  const names = new Map(open.map(({ id, name }) => [id, name]));
  return { ids: [...names.keys()], names };
}

async function subscribed(documents: Documents, userId: string): Promise<Topic[]> {
  const own = await documents.find(subscriptions, {
    index: 'byUser',
    equals: { userId },
    limit: subscriptionsPerAccount,
  });
  return own.length === 0
    ? []
    : documents.getMany(
        topics,
        own.map(({ topicId }) => topicId),
      );
}

/** Topics of the caller's own teams are the caller's own. */
async function ofTeams(documents: Documents, roles: ReadonlyMap<string, Role>): Promise<Topic[]> {
  const found: Topic[] = [];
  for (const [teamId, role] of roles) {
    if (role === 'owner') continue;
    found.push(...(await documents.find(topics, { index: 'byTeam', equals: { teamId }, limit: topicsPerOwner })));
    if (found.length >= topicsMax) break;
  }
  return found;
}
