import type { Subscription } from '../../domain/push/subscription.ts';
import { write, type Documents } from '../../ports/documents.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { subscriptions } from '../../collections/subscriptions-collection.ts';
import { topics } from '../../collections/topics.ts';

/**
 * Removes the subscription and decrements its topic's count once; resolves with whether it existed. `check` throws if
 * it must stay.
 */
export async function removeSubscription(
  documents: Documents,
  id: string,
  check: (subscription: Subscription) => Promise<void> = async () => {},
): Promise<boolean> {
  return retryStale(async () => {
    const subscription = await documents.get(subscriptions, id);
    if (subscription === null) return false;
    await check(subscription);
    await documents.commit([
      write.remove(subscriptions, id, subscription.version),
      write.increment(topics, subscription.topicId, { subscriberCount: -1 }),
    ]);
    return true;
  });
}
