import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { removeSubscription } from '@tocsin/shared/operations/topics/remove-subscription.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { refuseMandatory } from './mandatory-subscription.ts';
import { loadSubscription } from './load-subscription.ts';

/** `DELETE /api/subscriptions/{subscription_id}` */
export function deleteSubscription(deps: Pick<ApiDeps, 'engine'>): Route {
  return route({
    id: 'deleteSubscription',
    method: 'DELETE',
    path: '/api/subscriptions/{subscription_id}',
    summary: 'Unsubscribe',
    audience: 'account',
    scope: 'account:write',
    success: { status: 204, schema: null, description: 'Gone' },
    load: (context) => loadSubscription(deps, context),
    async handle(_context, { loaded }) {
      const { documents } = deps.engine;
      const refuse = (subscription: Subscription) => refuseMandatory(documents, subscription);
      const wasThere = await removeSubscription(documents, loaded.subscription.id, refuse);
      if (!wasThere) throw new AppError('not_found', 'Subscription not found');
      return { status: 204 };
    },
  });
}
