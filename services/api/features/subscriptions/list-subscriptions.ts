import { subscriptionSchema } from '@tocsin/shared/wire/subscription.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { describeOwnSubscriptions } from './describe-own-subscriptions.ts';

/** `GET /api/subscriptions` */
export function listSubscriptions(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'listSubscriptions',
    method: 'GET',
    path: '/api/subscriptions',
    summary: "The caller's subscriptions",
    audience: 'account',
    scope: 'account:read',
    success: {
      status: 200,
      schema: z.object({ subscriptions: z.array(subscriptionSchema), total: z.int() }),
      description: 'All subscriptions: pinned first, then by latest activity of the topic',
    },
    async handle(context) {
      const described = await describeOwnSubscriptions(deps, context.account(), context.now);
      return { status: 200, body: { subscriptions: described, total: described.length } };
    },
  });
}
