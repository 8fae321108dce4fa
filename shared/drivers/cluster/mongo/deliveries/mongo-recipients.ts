import type { Connection, mongo } from 'mongoose';
import { batchLoader } from '../../../../async/batch-loader.ts';
import type { Device } from '../../../../domain/push/device.ts';
import { passesPushFilter } from '../../../../domain/push/push-filter.ts';
import type { Subscription } from '../../../../domain/push/subscription.ts';
import { smallPageSize, type Deliveries, type Recipient, type RecipientDevice } from '../../../../ports/deliveries.ts';
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

/** Users per shared query. */
const usersPerQuery = 1_000;

/** First pages per shared query. */
const firstPagesMax = 64;

/**
 * Reads pages of a topic's recipients from the collections of the documents driver: a query for the subscriptions, and
 * one for the devices. Concurrent first pages of small topics share both.
 */
export function mongoRecipients(
  connection: Connection,
  { subscriptions, devices }: { subscriptions: Collection<Subscription>; devices: Collection<Device> },
): Pick<Deliveries, 'recipients' | 'topicsWithRecipients'> {
  const storedSubscriptions = connection.collection<StoredSubscription>(subscriptions.name);
  const byTopicFlags = indexName(subscriptions, 'byTopicFlags');
  const subscriptionsOf = subscriptionPages(storedSubscriptions, byTopicFlags);
  const devicesOf = devicesOfUsers(connection.collection<StoredDevice>(devices.name), indexName(devices, 'byUser'));
  return {
    async recipients(match, { after, limit }) {
      const found = await subscriptionsOf({ ...match, after, limit });
      const page = found.slice(0, limit);
      const devicesOfEach = await devicesOf(page.map(({ userId }) => userId));
      const recipients = page.map(({ _id, userId, createdAt, ...stored }, place): Recipient => ({
        subscriptionId: _id,
        userId,
        subscribedAt: createdAt,
        settings: settingsOf(stored),
        devices: devicesOfEach[place]!,
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

type Match = Parameters<Deliveries['recipients']>[0];
interface Page extends Match {
  readonly after: string | null;
  readonly limit: number;
}
type FoundSubscription = Pick<StoredSubscription, '_id' | keyof typeof settingFields>;

/** Returns a function that reads a page of subscriptions, and one more if there is one. */
function subscriptionPages(
  stored: mongo.Collection<StoredSubscription>,
  byTopicFlags: string,
): (page: Page) => Promise<FoundSubscription[]> {
  const findPage = ({ topicId, message, after, limit }: Page): Promise<FoundSubscription[]> =>
    stored
      .find(passingFilter(topicId, message, after), { projection: settingFields })
      .sort({ _id: 1 })
      .limit(limit + 1)
      .batchSize(limit + 1)
      .hint(byTopicFlags)
      .toArray();
  /** Reads the subscriptions of all topics in one query; null if there are too many. */
  const findTogether = async (pages: readonly Page[]) => {
    const topicIds = [...new Set(pages.map(({ topicId }) => topicId))];
    const rowsMax = topicIds.length * smallPageSize;
    const found = await stored
      .find(
        { topicId: { $in: topicIds }, $or: [{ mobileEnabled: true }, { webEnabled: true }] },
        { projection: { ...settingFields, topicId: 1 } },
      )
      .limit(rowsMax + 1)
      .batchSize(rowsMax + 1)
      .hint(byTopicFlags)
      .toArray();
    if (found.length > rowsMax) return null;
    const ofTopic = Map.groupBy(
      found.sort((a, b) => (a._id < b._id ? -1 : 1)),
      ({ topicId }) => topicId,
    );
    return ({ topicId, message, limit }: Page) =>
      (ofTopic.get(topicId) ?? []).filter((one) => passesPushFilter(one, message)).slice(0, limit + 1);
  };
  const firstPage = batchLoader(async (pages: Page[]) => {
    const found = pages.length === 1 ? null : await findTogether(pages);
    // A long read of one topic does not delay the next pages.
    return new Map(pages.map((page) => [page, { rows: found?.(page) ?? findPage(page) }]));
  }, firstPagesMax);
  return async (page) => (page.after === null ? (await firstPage(page))!.rows : findPage(page));
}

/** Returns a function that reads the active devices of each of the users. */
function devicesOfUsers(
  stored: mongo.Collection<StoredDevice>,
  byUser: string,
): (userIds: readonly string[]) => Promise<(RecipientDevice[] | undefined)[]> {
  const find = async (userIds: string[]): Promise<Map<string, RecipientDevice[]>> => {
    const found = new Map<string, RecipientDevice[]>(userIds.map((userId) => [userId, []]));
    const active = stored.find(
      { userId: { $in: userIds }, isActive: true },
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
  const findShared = batchLoader(find, usersPerQuery);
  return async (userIds) => {
    if (userIds.length <= smallPageSize) return Promise.all(userIds.map(findShared));
    const found = await find([...userIds]);
    return userIds.map((userId) => found.get(userId));
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
