import type { Message } from '@tocsin/shared/domain/messages/message.ts';
import type { Deliveries, Delivery, Recipient } from '@tocsin/shared/ports/deliveries.ts';
import { isHeldBack } from '../sending/hold-back.ts';
import { ledgerRows } from '../sending/ledger-rows.ts';

/**
 * Returns the recipients and devices that existed when the message was published and did not receive it. Later
 * subscribers missed nothing, and neither did those whose settings held the message back.
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
  for await (const rows of ledgerRows(deliveries, id, deviceIds))
    for (const row of rows) if (hasNotMissed(row)) over.add(row.deviceId);
  return wereThere.map((recipient) => ({
    ...recipient,
    devices: recipient.devices.filter((device) => !over.has(device.id)),
  }));
}

const hasNotMissed = ({ status, reason }: Delivery): boolean =>
  status === 'sent' || (status === 'skipped' && isHeldBack(reason));
