import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';

/** Returns the user's subscription to the topic, or null. */
export async function findOwnSubscription(
  documents: Documents,
  userId: string,
  topicId: string,
): Promise<Subscription | null> {
  const [found] = await documents.find(subscriptions, { index: 'userTopic', equals: { userId, topicId }, limit: 1 });
  return found ?? null;
}
