import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { removeSubscription } from '@tocsin/shared/operations/topics/remove-subscription.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { route, type Route } from '../../http/route.ts';
import { findOwnSubscription } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { refuseMandatory } from './mandatory-subscription.ts';
import { loadNamedTopic } from './load-named-topic.ts';

/** `DELETE /api/subscriptions/by-topic/{topic_name}` */
export function deleteSubscriptionByTopic(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  return route({
    id: 'deleteSubscriptionByTopic',
    method: 'DELETE',
    path: '/api/subscriptions/by-topic/{topic_name}',
    summary: 'Unsubscribe from a topic by its name',
    audience: 'account',
    scope: 'account:write',
    success: { status: 204, schema: null, description: 'Gone' },
    load: (context) => loadNamedTopic(deps.directory, context),
    async handle(context, { loaded: topic }) {
      const { documents } = deps.engine;
      const subscription = await findOwnSubscription(documents, context.account().userId, topic.id);
      const refuse = (current: Subscription) => refuseMandatory(documents, current);
      const wasThere = subscription !== null && (await removeSubscription(documents, subscription.id, refuse));
      if (!wasThere) throw new AppError('not_found', 'Subscription not found');
      return { status: 204 };
    },
  });
}
