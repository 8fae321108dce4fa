import { mayUseTopic, type TopicAct } from '@tocsin/shared/domain/topics/access.ts';
import type { AccountCaller, Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Role } from '@tocsin/shared/domain/teams/team.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { subscriptions, subscriptionsPerAccount } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { findRoles } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { toMessageJson, type MessageJson } from '@tocsin/shared/wire/message.ts';
import type { Directory } from '../../directory/directory.ts';
import type { TopicSpan, TopicSpans } from '../../directory/topic-spans.ts';
import { messageView } from '../../http/load-topic.ts';

/** The limit of topics of an account, including those of its teams. */
const topicsPerOwner = 10_000;
/** Limits the topics of one query for members of many large teams. */
const topicsMax = 20_000;

type SpanDeps = { readonly engine: { readonly documents: Documents }; readonly topicSpans: TopicSpans };

/**
 * Returns the topics of a search: those that the caller owns, subscribes to or reaches through a team, and may read
 * with this credential.
 */
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

/** Returns the subscribed topics that the caller may read with this credential: a subscription grants no access. */
export function subscribedTopics(
  { engine: { documents }, topicSpans }: SpanDeps,
  caller: AccountCaller,
): Promise<TopicSpan> {
  return topicSpans.get(keyOf('subscribed', caller), async () => {
    const found = await subscribed(documents, caller.userId);
    const needsRoles = found.some(({ teamId }) => teamId !== null);
    return readable(caller, found, needsRoles ? await findRoles(documents, caller.userId) : new Map());
  });
}

/** Only the kind of the credential matters: login or key. */
const keyOf = (span: 'searchable' | 'subscribed', { userId, scopes }: AccountCaller): string =>
  `${span} ${scopes === null ? 'login' : 'key'} ${userId}`;

function readable(caller: AccountCaller, found: readonly Topic[], roles: ReadonlyMap<string, Role>): TopicSpan {
  const may = (topic: Topic, act: TopicAct) => mayUseTopic(caller, topic, act, roles.get(topic.teamId ?? '') ?? null);
  const open = found.filter((topic) => may(topic, 'read'));
  const names = new Map(open.map(({ id, name }) => [id, name]));
  const managed = new Set(open.filter((topic) => may(topic, 'manage')).map(({ id }) => id));
  return { ids: [...names.keys()], names, managed };
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

/** Topics of teams that the caller owns belong to the caller. */
async function ofTeams(documents: Documents, roles: ReadonlyMap<string, Role>): Promise<Topic[]> {
  const found: Topic[] = [];
  for (const [teamId, role] of roles) {
    if (role === 'owner') continue;
    found.push(...(await documents.find(topics, { index: 'byTeam', equals: { teamId }, limit: topicsPerOwner })));
    if (found.length >= topicsMax) break;
  }
  return found;
}

/** The span of one topic that the caller may read. */
export async function spanOf(
  { directory }: { readonly directory: Directory },
  caller: Caller,
  topic: Topic,
): Promise<TopicSpan> {
  const { id, name } = topic;
  const view = await messageView(directory, caller, topic);
  return { ids: [id], names: new Map([[id, name]]), managed: new Set(view === 'manager' ? [id] : []) };
}

/** Returns the JSON of messages of the span. */
export function toSpanJson({ names, managed }: TopicSpan, messages: readonly StoredMessage[]): MessageJson[] {
  return messages.map((message) =>
    toMessageJson(message, names.get(message.topicId)!, managed.has(message.topicId) ? 'manager' : 'reader'),
  );
}
