import type { Connection, mongo } from 'mongoose';
import type { Device } from '../../../../domain/push/device.ts';
import type { Subscription } from '../../../../domain/push/subscription.ts';
import type { Deliveries, Recipient, RecipientDevice } from '../../../../ports/deliveries.ts';
import type { Collection } from '../../../../ports/documents.ts';
import { indexName } from '../documents/mongo-document-models.ts';

type StoredSubscription = Omit<Subscription, 'id'> & { readonly _id: string };
type StoredDevice = Omit<Device, 'id'> & { readonly _id: string };

const settingFields = {
  userId: 1,
  createdAt: 1,
  mobileEnabled: 1,
  webEnabled: 1,
  priorityThreshold: 1,
  tagsFilter: 1,
  soundEnabled: 1,
  vibrateEnabled: 1,
  notificationSound: 1,
  quietHours: 1,
  maxPerMinute: 1,
  allowCritical: 1,
  badge: 1,
  digest: 1,
  digestAt: 1,
  digestTimezone: 1,
} as const;

/** Rows of the first batch. With MongoDB's default of 101, the rest would need another round trip. */
const firstBatchSize = 1_000;

/** Reads pages of a topic's recipients from the collections of the documents driver, with two queries per page. */
export function mongoRecipients(
  connection: Connection,
  { subscriptions, devices }: { subscriptions: Collection<Subscription>; devices: Collection<Device> },
): Pick<Deliveries, 'recipients' | 'topicsWithRecipients'> {
  const storedSubscriptions = connection.collection<StoredSubscription>(subscriptions.name);
  const storedDevices = connection.collection<StoredDevice>(devices.name);
  const byTopicFlags = indexName(subscriptions, 'byTopicFlags');
  const byUser = indexName(devices, 'byUser');

  const devicesOf = async (userIds: readonly string[]) => {
    const found = new Map<string, RecipientDevice[]>(userIds.map((userId) => [userId, []]));
    const active = storedDevices.find(
      { userId: { $in: [...userIds] }, isActive: true },
      { projection: { userId: 1, platform: 1, pushToken: 1, doubtedAt: 1, createdAt: 1 } },
    );
    for (const { _id, userId, platform, pushToken, doubtedAt, createdAt } of await active
      .sort({ userId: 1, createdAt: 1, _id: 1 })
      .hint(byUser)
      .batchSize(firstBatchSize)
      .toArray()) {
      found.get(userId)!.push({ id: _id, platform, pushToken, doubtedAt: doubtedAt ?? null, createdAt });
    }
    return found;
  };
  return {
    async recipients({ topicId, message }, { after, limit }) {
      const found = await storedSubscriptions
        .find(passingFilter(topicId, message, after), { projection: settingFields })
        .sort({ _id: 1 })
        .limit(limit + 1)
        .batchSize(limit + 1)
        .hint(byTopicFlags)
        .toArray();
      const page = found.slice(0, limit);
      const ofUsers =
        page.length === 0 ? new Map<string, RecipientDevice[]>() : await devicesOf(page.map(({ userId }) => userId));
      const recipients = page.map(({ _id, userId, createdAt, ...stored }): Recipient => ({
        subscriptionId: _id,
        userId,
        subscribedAt: createdAt,
        settings: settingsOf(stored),
        devices: ofUsers.get(userId)!,
      }));
      return { recipients, next: found.length > limit ? page.at(-1)!._id : null };
    },
    async topicsWithRecipients(topicIds) {
      if (topicIds.length === 0) return new Set();
      const found = await storedSubscriptions
        .aggregate<{ _id: string; mobileEnabled: boolean; webEnabled: boolean }>(highestFlags(topicIds), {
          hint: byTopicFlags,
          batchSize: topicIds.length + 1,
        })
        .toArray();
      return new Set(found.flatMap(({ _id, mobileEnabled, webEnabled }) => (mobileEnabled || webEnabled ? [_id] : [])));
    },
  };
}

/** Returns the port's `followedTopics`. */
export function mongoFollowedTopics(
  connection: Connection,
  subscriptions: Collection<Subscription>,
): Deliveries['followedTopics'] {
  const stored = connection.collection<StoredSubscription>(subscriptions.name);
  const byUser = indexName(subscriptions, 'byUser');
  return async (userIds, limit) => {
    const found = await stored
      .find(
        { userId: { $in: [...userIds] } },
        { projection: { _id: 0, userId: 1, topicId: 1, createdAt: 1, lastViewedAt: 1 } },
      )
      .sort({ userId: 1 })
      .limit(limit)
      .batchSize(firstBatchSize)
      .hint(byUser)
      .toArray();
    return found.map(({ userId, topicId, createdAt, lastViewedAt }) => ({
      userId,
      topicId,
      createdAt,
      lastViewedAt: lastViewedAt ?? null,
    }));
  };
}

function passingFilter(
  topicId: string,
  message: Parameters<Deliveries['recipients']>[0]['message'],
  after: string | null,
): mongo.Filter<StoredSubscription> {
  return {
    topicId,
    // With both values MongoDB merges one sorted read of the index per combination.
    mobileEnabled: { $in: [true, false] },
    webEnabled: { $in: [true, false] },
    ...(after === null ? {} : { _id: { $gt: after } }),
    priorityThreshold: { $lte: message.priority },
    $and: [
      { $or: [{ mobileEnabled: true }, { webEnabled: true }] },
      { $or: [{ tagsFilter: { $size: 0 } }, { tagsFilter: { $in: [...message.tags] } }] },
    ],
  };
}

/**
 * The highest flags of each topic: if any subscription has a flag, they have one. With the hint of the index this is a
 * distinct scan, which reads one key per topic.
 */
const highestFlags = (topicIds: readonly string[]) => [
  { $match: { topicId: { $in: [...topicIds] } } },
  { $sort: { topicId: -1, mobileEnabled: -1, webEnabled: -1 } },
  {
    $group: {
      _id: '$topicId',
      mobileEnabled: { $first: '$mobileEnabled' },
      webEnabled: { $first: '$webEnabled' },
    },
  },
];

function settingsOf(stored: Recipient['settings']): Recipient['settings'] {
  const {
    mobileEnabled,
    webEnabled,
    priorityThreshold,
    tagsFilter,
    soundEnabled,
    vibrateEnabled,
    notificationSound,
    quietHours,
    maxPerMinute,
    allowCritical,
    badge,
    digest,
    digestAt,
    digestTimezone,
  } = stored;
  return {
    mobileEnabled,
    webEnabled,
    priorityThreshold,
    tagsFilter,
    soundEnabled,
    vibrateEnabled,
    notificationSound,
    quietHours: quietHours ?? null,
    maxPerMinute: maxPerMinute ?? null,
    allowCritical: allowCritical ?? false,
    badge: badge ?? null,
    digest: digest ?? null,
    digestAt: digestAt ?? null,
    digestTimezone: digestTimezone ?? null,
  };
}
