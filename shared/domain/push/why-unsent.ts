import type { Device, Platform } from './device.ts';
import type { StoredMessage } from '../messages/message.ts';
import { pushFilterFault } from './push-filter.ts';
import type { Subscription } from './subscription.ts';

/** The outcome for a device without a ledger row. */
export interface UnsentStatus {
  readonly status: 'pending' | 'skipped';
  /** The rule that blocked the push; null while the push is pending. */
  readonly reason: string | null;
}

/** A push that has not started after this time will not start, because all recipient pages are processed by then. */
const startsWithinMs = 60 * 60_000;

/**
 * Returns why the ledger has no row for a message and device. Subscribers whose filter rejects the message have no
 * rows. Uses the current settings, which may have changed since.
 */
export function whyUnsent(
  message: StoredMessage,
  to: { device: Device; subscription: Subscription | null; now: number },
): UnsentStatus {
  const { device, subscription, now } = to;
  const reason = message.isDeleted
    ? 'message deleted'
    : (deviceFault(message, device) ?? subscriptionFault(message, subscription, device.platform));
  if (reason !== null) return { status: 'skipped', reason };
  if (now - message.timestamp < startsWithinMs) return { status: 'pending', reason: null };
  return { status: 'skipped', reason: 'blocked by earlier settings, which have changed since' };
}

function deviceFault(message: StoredMessage, device: Device): string | null {
  if (device.createdAt > message.timestamp) return 'the device was registered after the message';
  return device.isActive ? null : 'the device is inactive';
}

function subscriptionFault(
  message: StoredMessage,
  subscription: Subscription | null,
  platform: Platform,
): string | null {
  if (subscription === null) return 'not subscribed to the topic';
  return (
    pushFilterFault(subscription, message, platform) ??
    (subscription.createdAt > message.timestamp ? 'subscribed after the message' : null)
  );
}
