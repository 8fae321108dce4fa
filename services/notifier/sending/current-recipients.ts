import type { Device, Platform } from '@tocsin/shared/domain/push/device.ts';
import { pushFilterFault } from '@tocsin/shared/domain/push/push-filter.ts';
import type { PushTargetIds } from '@tocsin/shared/domain/push/push-job.ts';
import { defaultMobileSettings, type Subscription } from '@tocsin/shared/domain/push/subscription.ts';
import type { Recipient } from '@tocsin/shared/ports/deliveries.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import type { Push } from './load-push.ts';
import type { PushDeps } from './push-deps.ts';

/** The reason to skip targets selected earlier. */
export interface CurrentSettings {
  readonly devicesById: ReadonlyMap<string, Device>;
  readonly subscriptionsById: ReadonlyMap<string, Subscription>;
}

/** The current settings of the targets' owners. */
export async function currentSettings(
  { engine: { documents } }: PushDeps,
  targets: readonly PushTargetIds[],
): Promise<CurrentSettings> {
  const [ofDevices, ofSubscriptions] = await Promise.all([
    documents.getMany(
      devices,
      targets.map(({ deviceId }) => deviceId),
    ),
    documents.getMany(subscriptions, [...new Set(targets.map(({ subscriptionId }) => subscriptionId))]),
  ]);
  return { devicesById: byId(ofDevices), subscriptionsById: byId(ofSubscriptions) };
}

/** Returns the current targets, and the dropped ones with a reason. */
export function currentRecipients(
  { message, page }: Push,
  { devicesById, subscriptionsById }: CurrentSettings,
  targets: readonly PushTargetIds[],
): { recipients: Recipient[]; dropped: Map<string, Set<string>> } {
  const recipients: Recipient[] = [];
  const dropped = new Map<string, Set<string>>();
  for (const { deviceId, userId, subscriptionId } of targets) {
    const device = devicesById.get(deviceId);
    const subscription = subscriptionsById.get(subscriptionId);
    const reason =
      page?.kind === 'step'
        ? reasonOfDevice(device)
        : reasonToDrop(device, subscription, (wish, platform) => pushFilterFault(wish, message, platform) === null);
    if (reason !== null) dropped.set(reason, (dropped.get(reason) ?? new Set()).add(deviceId));
    else
      recipients.push({
        subscriptionId,
        userId,
        subscribedAt: subscription?.createdAt ?? 0,
        settings: subscription ?? defaultMobileSettings,
        devices: [device!],
      });
  }
  return { recipients, dropped };
}

function reasonToDrop(
  device: Device | undefined,
  subscription: Subscription | undefined,
  isWanted: (wish: Subscription, platform: Platform) => boolean,
): string | null {
  const ofDevice = reasonOfDevice(device);
  if (ofDevice !== null) return ofDevice;
  if (subscription === undefined) return 'unsubscribed';
  return isWanted(subscription, device!.platform) ? null : 'filtered';
}

const reasonOfDevice = (device: Device | undefined): string | null =>
  device === undefined || !device.isActive ? 'device is inactive' : null;

function byId<T extends { readonly id: string }>(documents: readonly T[]): Map<string, T> {
  return new Map(documents.map((document) => [document.id, document]));
}
