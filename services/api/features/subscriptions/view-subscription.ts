import { subscriptionSchema } from '@tocsin/shared/wire/subscription.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { changeSubscription } from './change-subscription.ts';
import { describeSubscriptions } from './describe-subscriptions.ts';
import { loadSubscription } from './load-subscription.ts';

/** `POST /api/subscriptions/{subscription_id}/viewed` */
export function viewSubscription(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'viewSubscription',
    method: 'POST',
    path: '/api/subscriptions/{subscription_id}/viewed',
    summary: 'Mark all messages of the topic as read',
    audience: 'account',
    scope: 'account:write',
    success: { status: 200, schema: subscriptionSchema, description: 'The subscription' },
    load: (context) => loadSubscription(deps, context),
    async handle(context, { loaded }) {
      const subscription = await changeSubscription(deps.engine.documents, loaded.subscription, {
        lastViewedAt: context.now,
      });
      const [json] = await describeSubscriptions(deps.engine.messages, [{ ...loaded, subscription }], context.now);
      return { status: 200, body: json };
    },
  });
}
