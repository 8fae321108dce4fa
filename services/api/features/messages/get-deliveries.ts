import { platforms, type Device } from '@tocsin/shared/domain/push/device.ts';
import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import { ledgerKey } from '@tocsin/shared/domain/escalation/ledger-key.ts';
import { whyUnsent } from '@tocsin/shared/domain/push/why-unsent.ts';
import { deliveryStatuses, ledgerMs, type Delivery } from '@tocsin/shared/ports/deliveries.ts';
import { findOwnDevices } from '@tocsin/shared/operations/push/find-own-devices.ts';
import { toIso } from '@tocsin/shared/domain/to-iso.ts';
import { escalations } from '@tocsin/shared/collections/escalation/escalations.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { findOwnSubscription } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { route, type Route } from '../../http/route.ts';
import { loadReadableMessage } from './load-readable-message.ts';

/** The maximum of rows of one account: of its devices and of those that it removed. */
const rowsMax = 1_000;

const deliverySchema = z.object({
  device_id: z.uuid().describe('The `id` of the device.'),
  platform: z.enum(platforms),
  status: z.enum(deliveryStatuses),
  reason: z.string().nullable().describe("The filter rule, or the provider's response."),
  attempts: z.int().describe('The number of attempts.'),
  updated_at: z.iso.datetime(),
});
type DeliveryJson = z.infer<typeof deliverySchema>;

const countsSchema = z.object(
  Object.fromEntries(deliveryStatuses.map((status) => [status, z.int()])) as Record<Delivery['status'], z.ZodInt>,
);

const pageSchema = z.object({
  kind: z.enum(['repeat', 'step']),
  number: z
    .int()
    .describe(
      'Starts at 1 in each round; 0 is the push of a replacement that made the message require an acknowledgement.',
    ),
  round: z.int().describe('Each withdrawn acknowledgement starts a new round.'),
  at: z.iso.datetime(),
  skipped: z.string().nullable().describe('Why the page was skipped; null if it was sent.'),
  deliveries: z.array(deliverySchema),
  counts: countsSchema.nullable(),
});

/** `GET /api/messages/{message_id}/deliveries`: why the message reached or did not reach the caller's devices. */
export function getDeliveries(deps: Pick<ApiDeps, 'directory' | 'engine'>): Route {
  return route({
    id: 'getDeliveries',
    method: 'GET',
    path: '/api/messages/{message_id}/deliveries',
    summary: "Show the outcome of a message's pushes to the caller's devices",
    description:
      'Available for seven days. A device excluded by a filter shows the rule of the current settings. ' +
      'Managers of the topic also get the number of pushes by outcome, without filtered ones.',
    audience: 'account',
    scope: 'subscribe',
    success: {
      status: 200,
      schema: z.object({
        message_id: z.uuid(),
        deliveries: z.array(deliverySchema),
        counts: countsSchema.nullable(),
        pages: z.array(pageSchema).describe('The repeats and steps of the escalation, oldest first.'),
      }),
      description: 'One entry per device, newest device first',
    },
    load: (context) => loadReadableMessage(deps, context),
    async handle(context, { loaded: { message, isManager } }) {
      return {
        status: 200,
        body: {
          message_id: message.id,
          deliveries: await deliveriesOf(deps, message, { userId: context.account().userId, now: context.now }),
          counts: isManager ? await deps.engine.deliveries.counts(message.id) : null,
          pages: await pagesOf(deps, message.id, { userId: context.account().userId, isManager }),
        },
      };
    },
  });
}

/** Returns the pages of the message's escalation, each with the rows of the account. */
async function pagesOf(
  { engine: { deliveries, documents } }: Pick<ApiDeps, 'engine'>,
  messageId: string,
  { userId, isManager }: { userId: string; isManager: boolean },
): Promise<z.infer<typeof pageSchema>[]> {
  const escalation = await documents.get(escalations, messageId);
  const shown: z.infer<typeof pageSchema>[] = [];
  for (const page of escalation?.pages ?? []) {
    const key = ledgerKey(messageId, page);
    const [rows, counts] = await Promise.all([
      deliveries.find(key, { userId, limit: rowsMax }),
      isManager ? deliveries.counts(key) : null,
    ]);
    const { kind, number, round, skipped } = page;
    shown.push({ kind, number, round, at: toIso(page.at), skipped, deliveries: rows.map(rowJson), counts });
  }
  return shown;
}

/** Returns the account's devices with their ledger rows, then the ledger rows of removed devices. */
async function deliveriesOf(
  deps: Pick<ApiDeps, 'engine'>,
  message: StoredMessage,
  { userId, now }: { userId: string; now: number },
): Promise<DeliveryJson[]> {
  const { deliveries, documents } = deps.engine;
  const [rows, devices, subscription] = await Promise.all([
    deliveries.find(message.id, { userId, limit: rowsMax }),
    findOwnDevices(documents, userId),
    findOwnSubscription(documents, userId, message.topicId),
  ]);
  const ofDevice = new Map(rows.map((row) => [row.deviceId, row]));
  const isKnown = now - message.timestamp < ledgerMs;
  const shown = devices.flatMap((device): DeliveryJson[] => {
    const row = ofDevice.get(device.id);
    ofDevice.delete(device.id);
    if (row !== undefined) return [rowJson(row)];
    return isKnown ? [unsentJson(message, device, whyUnsent(message, { device, subscription, now }))] : [];
  });
  return [...shown, ...[...ofDevice.values()].map(rowJson)];
}

function rowJson({ deviceId, platform, status, reason, attempts, updatedAt }: Delivery): DeliveryJson {
  return { device_id: deviceId, platform, status, reason, attempts, updated_at: toIso(updatedAt) };
}

function unsentJson(
  { timestamp }: StoredMessage,
  { id, platform }: Device,
  { status, reason }: ReturnType<typeof whyUnsent>,
): DeliveryJson {
  return { device_id: id, platform, status, reason, attempts: 0, updated_at: toIso(timestamp) };
}
