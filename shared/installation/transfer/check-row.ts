import { z } from 'zod';
import { changeTypes } from '../../domain/messages/log-record.ts';
import { platforms } from '../../domain/push/device.ts';
import { deliveryStatuses } from '../../ports/deliveries.ts';
import type { Row, StoreRows } from '../../ports/installation-rows.ts';
import { storedMessageFields } from '../../wire/stored-message.ts';

const time = z.int().min(0);
const logOffset = z.int().min(0);

const schemas: { readonly [K in keyof StoreRows]: z.ZodType<StoreRows[K]> } = {
  topicFigures: z.strictObject({
    topicId: z.string(),
    messageCount: z.int(),
    lastOffset: z.int().min(-1),
    lastMessageAt: time.nullable(),
  }),
  changes: z.strictObject({
    type: z.enum(changeTypes),
    topicId: z.string(),
    messageId: z.string(),
    offset: logOffset,
    timestamp: time,
  }),
  messages: z.strictObject({ ...storedMessageFields, offset: logOffset.nullable(), contentRev: z.int() }),
  lostRecords: z.strictObject({ topicId: z.string(), offset: logOffset }),
  deliveries: z.strictObject({
    messageId: z.string(),
    deviceId: z.string(),
    topicId: z.string(),
    userId: z.string(),
    subscriptionId: z.string(),
    platform: z.enum(platforms),
    status: z.enum(deliveryStatuses),
    reason: z.string().nullable(),
    attempts: z.int().min(0),
    retryAt: time.nullable(),
    updatedAt: time,
  }),
};

/** Throws for an invalid row. Documents are checked against their collection when they are written. */
export function checkRow(part: string, row: Row): void {
  if (!Object.hasOwn(schemas, part)) return;
  const parsed = schemas[part as keyof StoreRows].safeParse(row);
  if (!parsed.success) throw new Error(`${part}: invalid row: ${z.prettifyError(parsed.error)}`);
}
