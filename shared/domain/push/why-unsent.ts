import type { Device } from './device.ts';
import type { StoredMessage } from '../messages/message.ts';
import { mobileFilterFault } from './mobile-filter.ts';
import type { Subscription } from './subscription.ts';

/** What becomes of a device of which the ledger has no row. */
export interface Unsent {
  readonly status: 'pending' | 'skipped';
  /** The rule that kept the message from the device; null while it is on its way. */
  readonly reason: string | null;
}

/** A push that was not even begun after this time will not be: the pages of a topic's recipients are walked long before. */
const beginsWithinMs = 60 * 60_000;

/**
 * Why the ledger has no row of a message for a device: whoever a filter leaves out is never visited, so nothing was
 * stored for them. Judged by the settings as they are now, which can have been changed since.
 */
export function whyUnsent(
  message: StoredMessage,
  to: { device: Device; subscription: Subscription | null; now: number },
): Unsent {
  const { device, subscription, now } = to;
  const reason = message.isDeleted
    ? 'message deleted'
    : (deviceFault(message, device) ?? subscriptionFault(message, subscription));
  if (reason !== null) return { status: 'skipped', reason };
  if (now - message.timestamp < beginsWithinMs) return { status: 'pending', reason: null };
  return { status: 'skipped', reason: 'left out by the settings of that time, which have changed since' };
}

function deviceFault(message: StoredMessage, device: Device): string | null {
  if (device.createdAt > message.timestamp) return 'the device was registered after the message';
  return device.isActive ? null : 'the device is inactive';
}

function subscriptionFault(message: StoredMessage, subscription: Subscription | null): string | null {
  if (subscription === null) return 'not subscribed to the topic';
  return (
    mobileFilterFault(subscription, message) ??
    (subscription.createdAt > message.timestamp ? 'subscribed after the message' : null)
  );
}
