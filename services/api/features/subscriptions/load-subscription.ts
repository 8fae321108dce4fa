import { AppError } from '@tocsin/shared/domain/errors.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { pathId } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';
import { readableSubscriptions, type ReadableSubscription } from './readable-subscriptions.ts';

/**
 * Returns the caller's subscription with the ID in the path. Throws 404 for any other, and if its topic is
 * inaccessible.
 */
export async function loadSubscription(
  deps: Pick<ApiDeps, 'engine'>,
  context: RequestContext,
): Promise<ReadableSubscription> {
  const caller = context.account();
  const subscription = await deps.engine.documents.get(subscriptions, pathId(context, 'subscription_id'));
  const [found] =
    subscription?.userId === caller.userId ? await readableSubscriptions(deps, caller, [subscription]) : [];
  if (found === undefined) throw new AppError('not_found', 'Subscription not found');
  return found;
}
