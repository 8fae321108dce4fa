import type { Messages, TopicStats } from '@tocsin/shared/ports/messages.ts';
import type { Subscription } from '@tocsin/shared/domain/subscription.ts';
import type { ReadableSubscription } from './readable-subscriptions.ts';
import { toSubscriptionJson, type SubscriptionJson } from './subscription-json.ts';

const noMessages: TopicStats = { messageCount: 0, lastMessageAt: null };

/** The subscriptions with the figures of their topics, in the given order. */
export async function describeSubscriptions(
  messages: Messages, readable: readonly ReadableSubscription[], now: number,
): Promise<SubscriptionJson[]> {
  const stats = await messages.topicStats(readable.map(({ topic }) => topic.id));
  return Promise.all(readable.map(async ({ subscription, topic }) => {
    const figures = stats.get(topic.id) ?? noMessages;
    const unreadCount = await countUnread(messages, subscription, { stats: figures, now });
    return toSubscriptionJson(subscription, topic, { stats: figures, unreadCount });
  }));
}

/** How many messages came after the user last viewed the topic: before the first view, after the subscription. */
async function countUnread(messages: Messages, subscription: Subscription, at: { stats: TopicStats; now: number }): Promise<number> {
  const since = subscription.lastViewedAt ?? subscription.createdAt;
  if (at.stats.lastMessageAt === null || at.stats.lastMessageAt <= since) return 0;
  const newest = await messages.newest(subscription.topicId, { limit: 1_000, now: at.now });
  return newest.filter((message) => message.timestamp > since).length;
}
