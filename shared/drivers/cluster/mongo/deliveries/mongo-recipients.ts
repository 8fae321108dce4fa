import type { Connection } from 'mongoose';
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
  priorityThreshold: 1,
  tagsFilter: 1,
  soundEnabled: 1,
  vibrateEnabled: 1,
  notificationSound: 1,
  quietHours: 1,
  maxPerMinute: 1,
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
  const byTopic = indexName(subscriptions, 'byTopic');
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
      const passing = {
        topicId,
        mobileEnabled: true,
        ...(after === null ? {} : { _id: { $gt: after } }),
        priorityThreshold: { $lte: message.priority },
        $or: [{ tagsFilter: { $size: 0 } }, { tagsFilter: { $in: [...message.tags] } }],
      };
      const found = await storedSubscriptions
        .find(passing, { projection: settingFields })
        .sort({ _id: 1 })
        .limit(limit + 1)
        .batchSize(limit + 1)
        .hint(byTopic)
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
      // With this hint a distinct scan, which reads one key per topic.
      const found = await storedSubscriptions
        .aggregate<{ _id: string }>(
          [{ $match: { topicId: { $in: [...topicIds] }, mobileEnabled: true } }, { $group: { _id: '$topicId' } }],
          { hint: byTopic, batchSize: topicIds.length + 1 },
        )
        .toArray();
      return new Set(found.map(({ _id }) => _id));
    },
  };
}

function settingsOf(stored: Recipient['settings']): Recipient['settings'] {
  const {
    mobileEnabled,
    priorityThreshold,
    tagsFilter,
    soundEnabled,
    vibrateEnabled,
    notificationSound,
    quietHours,
    maxPerMinute,
  } = stored;
  return {
    mobileEnabled,
    priorityThreshold,
    tagsFilter,
    soundEnabled,
    vibrateEnabled,
    notificationSound,
    quietHours: quietHours ?? null,
    maxPerMinute: maxPerMinute ?? null,
  };
}
