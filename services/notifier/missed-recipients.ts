import type { Message } from '@tocsin/shared/domain/message.ts';
import type { Deliveries, Recipient } from '@tocsin/shared/ports/deliveries.ts';

/** What the ledger is asked for at once. */
const devicesAtOnce = 1_000;

/**
 * Of the recipients those who were there when the message was published, with the devices that were there and that it
 * was not sent to. Others, who came later, have missed nothing.
 */
export async function missedRecipients(
  deliveries: Pick<Deliveries, 'find'>, { id, timestamp }: Pick<Message, 'id' | 'timestamp'>, recipients: readonly Recipient[],
): Promise<Recipient[]> {
  const wereThere = recipients.filter(({ subscribedAt }) => subscribedAt <= timestamp)
    .map((recipient) => ({ ...recipient, devices: recipient.devices.filter(({ createdAt }) => createdAt <= timestamp) }));
  const deviceIds = wereThere.flatMap(({ devices }) => devices.map((device) => device.id));
  const sent = new Set<string>();
  for (let start = 0; start < deviceIds.length; start += devicesAtOnce) {
    const asked = deviceIds.slice(start, start + devicesAtOnce);
    const rows = await deliveries.find(id, { deviceIds: asked, limit: asked.length });
    for (const { deviceId, status } of rows) if (status === 'sent') sent.add(deviceId);
  }
  return wereThere.map((recipient) => ({ ...recipient, devices: recipient.devices.filter((device) => !sent.has(device.id)) }));
}
