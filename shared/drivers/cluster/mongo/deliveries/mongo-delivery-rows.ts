import { mongo } from 'mongoose';
import type { Platform } from '../../../../domain/push/device.ts';
import type { Claim, Delivery, DeliveryStatus, Outcome } from '../../../../ports/deliveries.ts';
import { packId, unpackId } from '../../../packed-id.ts';

/** Converts a UUID to BSON; keeps other IDs as text. */
export type StoredId = mongo.Binary | string;

/** Starts with the message, so that a message's rows are adjacent, in device order. */
export interface RowId {
  readonly message: StoredId;
  readonly device: StoredId;
}

/** A stored row of the ledger. Times are milliseconds since the epoch. */
export interface DeliveryRow {
  readonly _id: RowId;
  readonly topicId: StoredId;
  readonly userId: StoredId;
  readonly subscriptionId: StoredId;
  readonly platform: Platform;
  readonly status: DeliveryStatus;
  readonly reason: string | null;
  readonly attempts: number;
  readonly retryAt: number | null;
  readonly updatedAt: number;
  /** The time slot of `updatedAt`, by which old rows are found. Missing in rows of earlier versions. */
  readonly slot: number;
  /** ID of the last claiming call, by which the caller finds the rows that it claimed. */
  readonly takenOverBy?: StoredId;
}

/**
 * The length of a slot. Most pushes are claimed and sent within one slot, so that their outcome changes no index
 * (updating an index by time was a quarter of the cost). With longer slots, a removal reads more rows that are not old
 * enough.
 */
export const slotMs = 10_000;

/** Converts a time for a row. */
export const rowTime = (time: number): Pick<DeliveryRow, 'updatedAt' | 'slot'> => ({
  updatedAt: time,
  slot: slotOf(time),
});
export const slotOf = (time: number): number => Math.floor(time / slotMs);

export function storedId(id: string): StoredId {
  const packed = packId(id);
  return typeof packed === 'string' ? packed : new mongo.Binary(packed, mongo.Binary.SUBTYPE_UUID);
}

export const rowIdOf = (messageId: string, deviceId: string): RowId => ({
  message: storedId(messageId),
  device: storedId(deviceId),
});

/** Matches the row IDs of a message, after the device if given. */
export function rowIdsOf(messageId: string, after?: string): { $gt: object; $lt: object } {
  const message = storedId(messageId);
  return {
    $gt: after === undefined ? { message } : rowIdOf(messageId, after),
    $lt: { message, device: new mongo.MaxKey() },
  };
}

/** Returns the row IDs of pushes. Packs the message ID once for adjacent pushes of the same message. */
export function rowIdMaker(): (of: Pick<Claim, 'messageId' | 'deviceId'>) => RowId {
  const message = memoizedPack();
  return ({ messageId, deviceId }) => ({ message: message(messageId), device: storedId(deviceId) });
}

/** Returns new rows for claims or outcomes. */
export function newRows<C extends Claim>(
  claims: readonly C[],
  fieldsOf: (claim: C) => Pick<DeliveryRow, 'status' | 'reason' | 'attempts' | 'retryAt' | 'updatedAt' | 'slot'>,
): DeliveryRow[] {
  const [idOf, topic] = [rowIdMaker(), memoizedPack()];
  return claims.map((claim) => {
    const { status, reason, attempts, retryAt, updatedAt, slot } = fieldsOf(claim);
    return {
      _id: idOf(claim),
      topicId: topic(claim.topicId),
      userId: storedId(claim.userId),
      subscriptionId: storedId(claim.subscriptionId),
      platform: claim.platform,
      status,
      reason,
      attempts,
      retryAt,
      updatedAt,
      slot,
    };
  });
}

/** Packs an ID unless it equals the previous one. */
function memoizedPack(): (id: string) => StoredId {
  let last: { readonly id: string; readonly packed: StoredId } | undefined;
  return (id) => {
    if (last?.id !== id) last = { id, packed: storedId(id) };
    return last.packed;
  };
}

/** The fields that an outcome sets. */
export function outcomeFields(
  { status, reason, retryAt }: Outcome,
  now: number,
): Pick<DeliveryRow, 'status' | 'reason' | 'retryAt' | 'updatedAt' | 'slot'> {
  return { status, reason, retryAt: status === 'retrying' ? (retryAt ?? null) : null, ...rowTime(now) };
}

export function deliveryOf(row: DeliveryRow): Delivery {
  const text = (id: StoredId) => unpackId(typeof id === 'string' ? id : id.buffer);
  return {
    messageId: text(row._id.message),
    deviceId: text(row._id.device),
    topicId: text(row.topicId),
    userId: text(row.userId),
    subscriptionId: text(row.subscriptionId),
    platform: row.platform,
    status: row.status,
    reason: row.reason,
    attempts: row.attempts,
    retryAt: row.retryAt,
    updatedAt: row.updatedAt,
  };
}
