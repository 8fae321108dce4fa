import { subscriptions, subscriptionsPerAccount } from '@tocsin/shared/stores/subscriptions-collection.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { describeSubscriptions } from './describe-subscriptions.ts';
import { readableSubscriptions } from './readable-subscriptions.ts';
import { subscriptionSchema, type SubscriptionJson } from './subscription-json.ts';

/** `GET /api/subscriptions` */
export function listSubscriptions(deps: ApiDeps): Route {
  return route({
    id: 'listSubscriptions',
    method: 'GET',
    path: '/api/subscriptions',
    summary: 'The caller\'s subscriptions',
    audience: 'account',
    scope: 'account:read',
    success: {
      status: 200,
      schema: z.object({ subscriptions: z.array(subscriptionSchema), total: z.int() }),
      description: 'All of them: pinned first, then newest activity of the topic',
    },
    async handle(context) {
      const caller = context.account();
      const found = await deps.engine.documents.find(subscriptions, {
        index: 'byUser', equals: { userId: caller.userId }, limit: subscriptionsPerAccount,
      });
      const readable = await readableSubscriptions(deps, caller, found);
      const created = new Map(readable.map(({ subscription, topic }) => [subscription.id, new Date(topic.createdAt).toISOString()]));
      const described = await describeSubscriptions(deps.engine.messages, readable, context.now);
      const activity = (one: SubscriptionJson): string => one.topic_last_message_at ?? created.get(one.id)!;
      described.sort((a, b) => Number(b.is_pinned) - Number(a.is_pinned) || compare(activity(b), activity(a)) || compare(b.id, a.id));
      return { status: 200, body: { subscriptions: described, total: described.length } };
    },
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
