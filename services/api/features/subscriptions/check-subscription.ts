import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { findOwnSubscription } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { loadNamedTopic } from './load-named-topic.ts';
import { readableSubscriptions } from './readable-subscriptions.ts';

/** `GET /api/subscriptions/check/{topic_name}` */
export function checkSubscription(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  return route({
    id: 'checkSubscription',
    method: 'GET',
    path: '/api/subscriptions/check/{topic_name}',
    summary: 'Check whether the caller is subscribed to a topic',
    audience: 'account',
    scope: 'account:read',
    success: {
      status: 200,
      schema: z.object({ subscribed: z.boolean(), topic_name: z.string() }),
      description: 'Yes or no',
    },
    load: (context) => loadNamedTopic(deps.directory, context),
    async handle(context, { loaded: topic }) {
      const caller = context.account();
      const subscription = await findOwnSubscription(deps.engine.documents, caller.userId, topic.id);
      const readable = subscription === null ? [] : await readableSubscriptions(deps, caller, [subscription]);
      return { status: 200, body: { subscribed: readable.length > 0, topic_name: topic.name } };
    },
  });
}
