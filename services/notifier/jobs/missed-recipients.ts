import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { Deliveries, Delivery, Recipient } from '@tocsin/shared/ports/deliveries.ts';
import { isHeldBack } from '../sending/hold-back.ts';

/** What the ledger is asked for at once. */
const devicesAtOnce = 1_000;

/**
 * Of the recipients those who were there when the message was published, with the devices that were there and that it
 * was not sent to. Others, who came later, have missed nothing, and neither has who did not want to be disturbed.
 */
export async function missedRecipients(
  deliveries: Pick<Deliveries, 'find'>,
  { id, timestamp }: Pick<Message, 'id' | 'timestamp'>,
  recipients: readonly Recipient[],
): Promise<Recipient[]> {
  const wereThere = recipients
    .filter(({ subscribedAt }) => subscribedAt <= timestamp)
    .map((recipient) => ({
      ...recipient,
      devices: recipient.devices.filter(({ createdAt }) => createdAt <= timestamp),
    }));
  const deviceIds = wereThere.flatMap(({ devices }) => devices.map((device) => device.id));
  const over = new Set<string>();
  for (let start = 0; start < deviceIds.length; start += devicesAtOnce) {
    const asked = deviceIds.slice(start, start + devicesAtOnce);
    const rows = await deliveries.find(id, { deviceIds: asked, limit: asked.length });
    for (const row of rows) if (hasNotMissed(row)) over.add(row.deviceId);
  }
  return wereThere.map((recipient) => ({
    ...recipient,
    devices: recipient.devices.filter((device) => !over.has(device.id)),
  }));
}

const hasNotMissed = ({ status, reason }: Delivery): boolean =>
  status === 'sent' || (status === 'skipped' && isHeldBack(reason));
