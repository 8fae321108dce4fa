import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { Messages, TopicStats } from '@tocsin/shared/ports/messages.ts';
import { type SubscriptionJson, toSubscriptionJson } from '@tocsin/shared/wire/subscription.ts';
import type { ReadableSubscription } from './readable-subscriptions.ts';

const noMessages: TopicStats = { messageCount: 0, lastMessageAt: null };

/** Nobody reads further unread messages than these one by one. Harm prevented: a list that counts millions. */
const unreadMax = 10_000;

/** The subscriptions with the figures of their topics, in the given order. */
export async function describeSubscriptions(
  messages: Messages,
  readable: readonly ReadableSubscription[],
  now: number,
): Promise<SubscriptionJson[]> {
  const stats = await messages.topicStats(readable.map(({ topic }) => topic.id));
  const unread = await countUnread(
    messages,
    readable.map(({ subscription }) => subscription),
    { stats, now },
  );
  return readable.map(({ subscription, topic }) =>
    toSubscriptionJson(subscription, topic, {
      stats: stats.get(topic.id) ?? noMessages,
      unreadCount: unread.get(subscription.id) ?? 0,
    }),
  );
}

/**
 * How many messages came after the user last viewed each topic: before the first view, after the subscription. Only the
 * topics that were published to since are counted.
 */
async function countUnread(
  messages: Messages,
  found: readonly Subscription[],
  at: { stats: ReadonlyMap<string, TopicStats>; now: number },
): Promise<Map<string, number>> {
  const since = (subscription: Subscription): number => subscription.lastViewedAt ?? subscription.createdAt;
  const active = found.filter(
    (subscription) => (at.stats.get(subscription.topicId)?.lastMessageAt ?? 0) > since(subscription),
  );
  const marks = active.map((subscription) => ({ topicId: subscription.topicId, after: since(subscription) }));
  const counts = await messages.countAfter(marks, { max: unreadMax, now: at.now });
  return new Map(active.map((subscription, index) => [subscription.id, counts[index]!]));
}
