import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { TopicStats, MessageReads } from '@tocsin/shared/ports/messages/message-reads.ts';
import { type SubscriptionJson, toSubscriptionJson } from '@tocsin/shared/wire/subscription.ts';
import type { ReadableSubscription } from './readable-subscriptions.ts';

const noMessages: TopicStats = { messageCount: 0, lastMessageAt: null };

/** The maximum of counted unread messages, so that a list does not count millions. */
const unreadMax = 10_000;

/** Returns the subscriptions with counts of their topics, in the given order. */
export async function describeSubscriptions(
  messages: MessageReads,
  readable: readonly ReadableSubscription[],
  now: number,
): Promise<SubscriptionJson[]> {
  const stats = await messages.topicStats(readable.map(({ topic }) => topic.id));
  const unread = await countUnread(
    messages,
    readable.map(({ subscription }) => subscription),
    { stats, now },
  );
  return readable.map(({ subscription, topic, teamSubscription }) =>
    toSubscriptionJson(subscription, topic, {
      teamSubscription,
      stats: stats.get(topic.id) ?? noMessages,
      unreadCount: unread.get(subscription.id) ?? 0,
    }),
  );
}

/**
 * Counts the messages since the user's last view of each topic, or since the subscription before the first view. Only
 * topics with later publishes are counted.
 */
async function countUnread(
  messages: MessageReads,
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
