import { pushFilterFault } from '@tocsin/shared/domain/push/push-filter.ts';
import type { Device } from '@tocsin/shared/domain/push/device.ts';
import type { Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Claim, Outcome } from '@tocsin/shared/ports/deliveries.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import type { DigestItem } from '@tocsin/shared/collections/push/digests.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { findReaders } from '@tocsin/shared/operations/topics/find-readers.ts';
import type { PushDeps } from '../sending/push-deps.ts';

/** IDs per read. */
const idsAtOnce = 1_000;

/** A message for a device. */
interface Entry {
  readonly item: DigestItem;
  readonly claim: Claim;
}

/** An entry that the digest contains. */
export interface DigestEntry extends Entry {
  readonly message: StoredMessage;
  readonly topic: Topic;
  readonly subscription: Subscription;
  readonly device: Device;
}

export interface WaitingEntry {
  readonly entry: Entry;
  readonly until: number;
}

export interface SortedItems {
  readonly ready: readonly DigestEntry[];
  readonly waiting: readonly WaitingEntry[];
  readonly dropped: readonly Outcome[];
}

/**
 * Decides by current settings, texts and access rights which messages of a user the digest contains, which wait for the
 * end of quiet hours, and which are dropped, with the reason.
 */
export async function sortItems(deps: PushDeps, items: readonly DigestItem[]): Promise<SortedItems> {
  const current = await readCurrent(deps, items);
  const ready: DigestEntry[] = [];
  const waiting: WaitingEntry[] = [];
  const dropped: Outcome[] = [];
  for (const item of items) {
    const { messageId, topicId, userId, subscriptionId } = item;
    for (const { deviceId, platform } of item.devices) {
      const entry: Entry = { item, claim: { messageId, deviceId, topicId, userId, subscriptionId, platform } };
      const found = judge(deps, current, entry);
      if (typeof found === 'string') dropped.push({ ...entry.claim, status: 'skipped', reason: found });
      else if ('until' in found) waiting.push(found);
      else ready.push(found);
    }
  }
  return { ready, waiting, dropped };
}

interface Current {
  readonly messages: ReadonlyMap<string, StoredMessage>;
  readonly devices: ReadonlyMap<string, Device>;
  readonly subscriptions: ReadonlyMap<string, Subscription>;
  /** Those that the user may read. */
  readonly topics: ReadonlyMap<string, Topic>;
  readonly deletedTopics: ReadonlySet<string>;
}

async function readCurrent({ engine }: PushDeps, items: readonly DigestItem[]): Promise<Current> {
  const { documents } = engine;
  const deviceIds = items.flatMap((item) => item.devices.map(({ deviceId }) => deviceId));
  const topicIds = items.map(({ topicId }) => topicId);
  const [messages, ofUser, subscribed, found] = await Promise.all([
    readAll(
      items.map(({ messageId }) => messageId),
      (ids) => engine.messages.findMany(ids),
    ),
    readAll(deviceIds, (ids) => documents.getMany(devices, ids)),
    readAll(
      items.map(({ subscriptionId }) => subscriptionId),
      (ids) => documents.getMany(subscriptions, ids),
    ),
    readAll(topicIds, (ids) => documents.getMany(topics, ids)),
  ]);
  const readable = new Map<string, Topic>();
  for (const topic of found.values())
    if ((await findReaders(documents, topic, [items[0]!.userId])).size > 0) readable.set(topic.id, topic);
  return {
    messages,
    devices: ofUser,
    subscriptions: subscribed,
    topics: readable,
    deletedTopics: new Set(topicIds.filter((id) => !found.has(id))),
  };
}

async function readAll<T extends { readonly id: string }>(
  ids: readonly string[],
  read: (ids: readonly string[]) => Promise<T[]>,
): Promise<Map<string, T>> {
  const unique = [...new Set(ids)];
  const found = new Map<string, T>();
  for (let start = 0; start < unique.length; start += idsAtOnce)
    for (const one of await read(unique.slice(start, start + idsAtOnce))) found.set(one.id, one);
  return found;
}

/** Returns the reason for a dropped entry. */
function judge(deps: PushDeps, current: Current, entry: Entry): DigestEntry | WaitingEntry | string {
  const { messageId, topicId, userId, subscriptionId, deviceId, platform } = entry.claim;
  const now = deps.clock();
  const message = current.messages.get(messageId);
  if (message === undefined || message.expiresAt <= now) return 'message expired';
  if (message.isDeleted) return 'message deleted';
  if (message.acknowledgement !== null) return 'message acknowledged';
  // A replacement raised it since.
  if (message.requiresAck) return 'pushed by its escalation';
  if (current.deletedTopics.has(topicId)) return 'topic deleted';
  const topic = current.topics.get(topicId);
  const subscription = current.subscriptions.get(subscriptionId);
  if (subscription === undefined) return 'unsubscribed';
  if (topic === undefined) return 'no access';
  const device = current.devices.get(deviceId);
  if (device === undefined || !device.isActive || device.userId !== userId) return 'device is inactive';
  if (!deps.gateways.has(platform)) return 'not configured';
  if ((subscription.lastViewedAt ?? 0) >= message.timestamp) return 'read before the digest';
  if (pushFilterFault(subscription, message, platform) !== null) return 'filtered';
  const { quietHours } = subscription;
  const isQuiet = quietHours !== null && message.priority < (quietHours.allowPriority ?? Infinity);
  const span = isQuiet ? deps.quietSpans.at(quietHours, now) : null;
  return span === null ? { ...entry, message, topic, subscription, device } : { entry, until: span.end };
}
