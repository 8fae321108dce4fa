import { toMessageJson } from '@tocsin/shared/domain/message-json.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { messageSchema } from '../../http/message-schema.ts';
import { queryInteger } from '../../http/paging.ts';
import { route, type Route } from '../../http/route.ts';
import { loadNamedTopic, namedTopic, namedTopicErrors } from './load-named-topics.ts';
import { subscribedTopics } from './searchable-topics.ts';

/** `GET /api/messages/recent`: the newest messages of the caller's subscriptions. */
export function listRecent(deps: ApiDeps): Route {
  return route({
    id: 'listRecent',
    method: 'GET',
    path: '/api/messages/recent',
    summary: 'The newest messages of the topics that the caller is subscribed to',
    audience: 'account',
    scope: 'subscribe',
    query: z.object({ limit: queryInteger({ min: 1, max: 200 }).default(100), topic: namedTopic }),
    success: { status: 200, schema: z.array(messageSchema), description: 'Newest first; empty for a named topic without a subscription' },
    errors: namedTopicErrors,
    load: (context) => loadNamedTopic(deps, context),
    async handle(context, { loaded: named, query: { limit } }) {
      const { ids, names } = await subscribedTopics(deps, context.account());
      const asked = named === null ? ids : ids.filter((id) => id === named.id);
      const messages = await deps.engine.messages.recent(asked, { limit, now: context.now });
      return { status: 200, body: messages.map((message) => toMessageJson(message, names.get(message.topicId)!)) };
    },
  });
}
