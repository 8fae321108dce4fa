import type { Subscription } from '../domain/push/subscription.ts';
import type { Collection } from '../ports/documents.ts';

/** The maximum number of subscriptions per account. */
export const subscriptionsPerAccount = 1_000;

export const subscriptions: Collection<Subscription> = {
  name: 'subscriptions',
  fields: {
    userId: 'text',
    topicId: 'text',
    createdAt: 'time',
    lastViewedAt: 'time',
    lastNotifiedAt: 'time',
    isPinned: 'boolean',
    webEnabled: 'boolean',
    mobileEnabled: 'boolean',
    priorityThreshold: 'integer',
    tagsFilter: 'json',
    soundEnabled: 'boolean',
    vibrateEnabled: 'boolean',
    notificationSound: 'text',
    quietHours: 'json',
    maxPerMinute: 'integer',
    allowCritical: 'boolean',
    badge: 'text',
  },
  uniqueKeys: { userTopic: ['userId', 'topicId'] },
  indexes: {
    byTopic: ['topicId', 'mobileEnabled'],
    byTopicFlags: ['topicId', 'mobileEnabled', 'webEnabled'],
    byUser: ['userId', 'createdAt'],
  },
};
