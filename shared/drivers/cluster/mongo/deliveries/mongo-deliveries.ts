import type { Connection } from 'mongoose';
import type { Device } from '../../../../domain/push/device.ts';
import type { Subscription } from '../../../../domain/push/subscription.ts';
import { deliveryStatuses, type Deliveries, type DeliveryStatus } from '../../../../ports/deliveries.ts';
import { checkClaims, checkDeviceIds, chunkOutcomes } from '../../../../ports/delivery-checks.ts';
import type { Collection } from '../../../../ports/documents.ts';
import { ignoring, indexNotFound, mapUnavailable } from '../mongo-connection.ts';
import { claimRows, recordRows } from './mongo-delivery-ledger.ts';
import { deliveryOf, rowIdOf, rowIdsOf, slotMs, slotOf, storedId, type DeliveryRow } from './mongo-delivery-rows.ts';
import { ledgerWrites, type Ledger } from './ledger-writes.ts';
import { mongoFollowedTopics, mongoRecipients } from './mongo-recipients.ts';

export interface MongoDeliveriesOptions {
  readonly connection: Connection;
  readonly subscriptions: Collection<Subscription>;
  readonly devices: Collection<Device>;
}

const ledgerName = 'deliveries';
/** The index by time of earlier versions. */
const legacyIndex = 'byTime';
const indexes = { byUser: 'byUser', bySlot: 'bySlot' } as const;

/** Rows per command, because a large command holds its locks too long. */
const recordedMax = 1_000;

/**
 * Recipients and delivery ledger of a cluster. Requires the document collections of subscriptions and devices; creates
 * the ledger collection. Claims are acknowledged by the majority, so that a failover cannot grant a claim twice.
 * `close` leaves the connection open.
 */
export async function openMongoDeliveries({
  connection,
  subscriptions,
  devices,
}: MongoDeliveriesOptions): Promise<Deliveries> {
  const ledger = connection.collection<DeliveryRow>(ledgerName) as unknown as Ledger;
  await mapUnavailable(() =>
    ledger.createIndexes([
      // Finds pushes to a user's own devices without reading those of others.
      { name: indexes.byUser, key: { userId: 1, _id: 1 } },
      { name: indexes.bySlot, key: { slot: 1 } },
    ]),
  );
  await mapUnavailable(() => ledger.dropIndex(legacyIndex).catch(ignoring(indexNotFound)));
  const writes = ledgerWrites(ledger);
  const findRecipients = mongoRecipients(connection, { subscriptions, devices });
  const followedTopics = mongoFollowedTopics(connection, subscriptions);
  return {
    recipients: (match, page) => mapUnavailable(() => findRecipients.recipients(match, page)),
    topicsWithRecipients: (topicIds) => mapUnavailable(() => findRecipients.topicsWithRecipients(topicIds)),
    followedTopics: (userIds, limit) => mapUnavailable(() => followedTopics(userIds, limit)),
    claim: (claims, at) =>
      mapUnavailable(async () => {
        const checked = checkClaims(claims);
        return checked.length === 0 ? new Set<string>() : claimRows({ ledger, writes }, checked, at);
      }),
    record: (outcomes, now) =>
      mapUnavailable(async () => {
        for (const part of chunkOutcomes(outcomes, recordedMax)) await recordRows(writes, part, now);
      }),
    find: (messageId, filter) => mapUnavailable(() => findRows(ledger, messageId, filter)),
    counts: (messageId) => mapUnavailable(() => countRows(ledger, messageId)),
    removeOfUser: (userId, limit) => mapUnavailable(() => removeRowsOf(ledger, userId, limit)),
    removeBefore: (time, limit) => mapUnavailable(() => removeRows(ledger, time, limit)),
    close: async () => undefined,
  };
}

async function findRows(
  ledger: Ledger,
  messageId: string,
  { userId, deviceIds, after, limit }: Parameters<Deliveries['find']>[1],
) {
  checkDeviceIds(deviceIds);
  if (limit === 0) return []; // MongoDB treats 0 as no limit
  const ids =
    deviceIds === undefined
      ? rowIdsOf(messageId, after)
      : { $in: deviceIds.map((deviceId) => rowIdOf(messageId, deviceId)) };
  const rows = ledger.find({ _id: ids as never, ...(userId === undefined ? {} : { userId: storedId(userId) }) });
  const isByUser = userId !== undefined && deviceIds === undefined;
  return (
    await rows
      .sort({ _id: 1 })
      .limit(limit)
      .hint(isByUser ? indexes.byUser : '_id_')
      .toArray()
  ).map(deliveryOf);
}

async function countRows(ledger: Ledger, messageId: string): Promise<Record<DeliveryStatus, number>> {
  const counted = await ledger
    .aggregate<{ _id: DeliveryStatus; rows: number }>([
      { $match: { _id: rowIdsOf(messageId) } },
      { $group: { _id: '$status', rows: { $sum: 1 } } },
    ])
    .toArray();
  const counts = Object.fromEntries(deliveryStatuses.map((status) => [status, 0])) as Record<DeliveryStatus, number>;
  for (const { _id, rows } of counted) counts[_id] = rows;
  return counts;
}

async function removeRows(ledger: Ledger, time: number, limit: number): Promise<number> {
  if (limit === 0) return 0;
  await addSlots(ledger, limit);
  const old = await ledger
    .find({ slot: { $lte: slotOf(time) }, updatedAt: { $lt: time } }, { projection: { _id: 1 } })
    .sort({ slot: 1 })
    .limit(limit)
    .hint(indexes.bySlot)
    .toArray();
  if (old.length === 0) return 0;
  // Checks the row again, because it may have been claimed concurrently.
  return (await ledger.deleteMany({ _id: { $in: old.map(({ _id }) => _id) }, updatedAt: { $lt: time } })).deletedCount;
}

/** Adds slots to rows of earlier versions in batches. Remove it once no installation has rows of 2026. */
async function addSlots(ledger: Ledger, limit: number): Promise<void> {
  const unslotted = await ledger
    .find({ slot: null as never }, { projection: { _id: 1 } })
    .limit(limit)
    .hint(indexes.bySlot)
    .toArray();
  if (unslotted.length === 0) return;
  const slot = { $floor: { $divide: ['$updatedAt', slotMs] } };
  await ledger.updateMany({ _id: { $in: unslotted.map(({ _id }) => _id) } }, [{ $set: { slot } }]);
}

async function removeRowsOf(ledger: Ledger, userId: string, limit: number): Promise<number> {
  if (limit === 0) return 0;
  const found = await ledger
    .find({ userId: storedId(userId) }, { projection: { _id: 1 } })
    .limit(limit)
    .hint(indexes.byUser)
    .toArray();
  return found.length === 0 ? 0 : (await ledger.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } })).deletedCount;
}
