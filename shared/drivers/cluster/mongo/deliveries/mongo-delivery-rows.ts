import { mongo } from 'mongoose';
import type { Platform } from '../../../../domain/push/device.ts';
import type { Claim, Delivery, DeliveryStatus, Outcome } from '../../../../ports/deliveries.ts';
import { packId, unpackId } from '../../../packed-id.ts';

/** A UUID as BSON's own; any other id as its text. */
export type StoredId = mongo.Binary | string;

/** The message first: a message's rows stand together, in order of device. */
export interface RowId {
  readonly message: StoredId;
  readonly device: StoredId;
}

/** A row of the ledger as it is stored. Times are milliseconds since the epoch. */
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
  /** Which span of time `updatedAt` is in: what removes old rows finds them by it. Earlier versions wrote none. */
  readonly slot: number;
  /** Which call took the row over last; tells the caller what it got. */
  readonly takenOverBy?: StoredId;
}

/**
 * How long a slot is. Most pushes are claimed and sent within one, so that their outcome changes no index: one by the time itself
 * made a quarter of what it cost. The longer it is, the more rows are looked at in vain at the end of what is removed.
 */
export const slotMs = 10_000;

/** A time as a row has it. */
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

/** Matches the row ids of a message, those after the device's where one is given. */
export function rowIdsOf(messageId: string, after?: string): { $gt: object; $lt: object } {
  const message = storedId(messageId);
  return {
    $gt: after === undefined ? { message } : rowIdOf(messageId, after),
    $lt: { message, device: new mongo.MaxKey() },
  };
}

/** The row ids of pushes; what those behind each other have in common, their message, is packed once. */
export function rowIdMaker(): (of: Pick<Claim, 'messageId' | 'deviceId'>) => RowId {
  const message = packedOnce();
  return ({ messageId, deviceId }) => ({ message: message(messageId), device: storedId(deviceId) });
}

/** Rows for claims or outcomes whose push the ledger does not know yet. */
export function newRows<C extends Claim>(
  claims: readonly C[],
  givenOf: (claim: C) => Pick<DeliveryRow, 'status' | 'reason' | 'attempts' | 'retryAt' | 'updatedAt' | 'slot'>,
): DeliveryRow[] {
  const [idOf, topic] = [rowIdMaker(), packedOnce()];
  return claims.map((claim) => {
    const { status, reason, attempts, retryAt, updatedAt, slot } = givenOf(claim);
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

/** Packs an id unless it is the one before it. */
function packedOnce(): (id: string) => StoredId {
  let last: { readonly id: string; readonly packed: StoredId } | undefined;
  return (id) => {
    if (last?.id !== id) last = { id, packed: storedId(id) };
    return last.packed;
  };
}

/** What an outcome sets. */
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
