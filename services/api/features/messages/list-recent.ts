import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { messageSchema } from '@tocsin/shared/wire/message.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import type { TopicSpan } from '../../directory/topic-spans.ts';
import { findOwnSubscription } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { loadNamedTopic, namedTopic, namedTopicErrors } from './load-named-topics.ts';
import { spanOf, subscribedTopics, toSpanJson } from './searchable-topics.ts';

/** `GET /api/messages/recent`: the newest messages of the caller's subscriptions. */
export function listRecent(deps: Pick<ApiDeps, 'directory' | 'engine' | 'topicSpans'>): Route {
  return route({
    id: 'listRecent',
    method: 'GET',
    path: '/api/messages/recent',
    summary: "List the newest messages of the caller's subscriptions",
    audience: 'account',
    scope: 'subscribe',
    query: z.object({ limit: queryInteger({ min: 1, max: 200 }).default(100), topic: namedTopic }),
    success: {
      status: 200,
      schema: z.array(messageSchema),
      description: 'Newest first; empty for a named topic without a subscription',
    },
    errors: namedTopicErrors,
    load: (context) => loadNamedTopic(deps, context),
    async handle(context, { loaded: named, query: { limit } }) {
      const span =
        named === null
          ? await subscribedTopics(deps, context.account())
          : await ifSubscribed(deps, context.account(), named);
      const messages = await deps.engine.messages.recent(span.ids, { limit, now: context.now });
      return { status: 200, body: toSpanJson(span, messages) };
    },
  });
}

/** The named topic, readable by the caller, if the caller is subscribed to it. */
async function ifSubscribed(
  deps: Pick<ApiDeps, 'directory' | 'engine'>,
  caller: AccountCaller,
  topic: Topic,
): Promise<TopicSpan> {
  const isSubscribed = (await findOwnSubscription(deps.engine.documents, caller.userId, topic.id)) !== null;
  return isSubscribed ? spanOf(deps, caller, topic) : { ids: [], names: new Map(), managed: new Set() };
}
