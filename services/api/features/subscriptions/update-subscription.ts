import { subscriptionSchema } from '@tocsin/shared/wire/subscription.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { changeSubscription } from './change-subscription.ts';
import { describeSubscriptions } from './describe-subscriptions.ts';
import { loadSubscription } from './load-subscription.ts';
import { changedSubscriptionFields, settingsOf } from '../../access/subscription-fields.ts';

const body = z.object({ ...changedSubscriptionFields, is_pinned: z.boolean().optional() });

/** `PATCH /api/subscriptions/{subscription_id}` */
export function updateSubscription(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'updateSubscription',
    method: 'PATCH',
    path: '/api/subscriptions/{subscription_id}',
    summary: "Change a subscription's notifications or pin it",
    audience: 'account',
    scope: 'account:write',
    body,
    success: { status: 200, schema: subscriptionSchema, description: 'The subscription' },
    load: (context) => loadSubscription(deps, context),
    async handle(context, { loaded, body: fields }) {
      const set = { ...settingsOf(fields), ...(fields.is_pinned === undefined ? {} : { isPinned: fields.is_pinned }) };
      const subscription = await changeSubscription(deps.engine.documents, loaded.subscription, set);
      const [json] = await describeSubscriptions(deps.engine.messages, [{ ...loaded, subscription }], context.now);
      return { status: 200, body: json };
    },
  });
}
