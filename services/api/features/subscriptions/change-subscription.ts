import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import { boundChanges } from '@tocsin/shared/domain/push/team-subscription.ts';
import type { Changes, Documents } from '@tocsin/shared/ports/documents.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { findMandatory, setByTeam } from './mandatory-subscription.ts';

/**
 * Sets fields of the current subscription. Throws 404 if it was removed, and 403 for settings that would suppress
 * pushes of a mandatory team subscription.
 */
export async function changeSubscription(
  documents: Documents,
  loaded: Subscription,
  set: Changes<Subscription>,
): Promise<Subscription> {
  if (Object.keys(set).length === 0) return loaded;
  return retryStale(async () => {
    const subscription = await documents.get(subscriptions, loaded.id);
    if (subscription === null) throw new AppError('not_found', 'Subscription not found');
    const mandatory = await findMandatory(documents, subscription);
    const refused = mandatory === null ? {} : boundChanges({ ...subscription, ...set }, mandatory.settings);
    if (Object.keys(refused).some((field) => field in set)) throw setByTeam();
    return documents.update(subscriptions, subscription, set);
  });
}
