import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import type { Claim, Deliveries, Outcome } from '../../../../ports/deliveries.ts';
import { duplicateKey } from '../mongo-connection.ts';
import {
  newRows,
  outcomeFields,
  rowIdMaker,
  rowTime,
  storedId,
  type DeliveryRow,
  type RowId,
} from './mongo-delivery-rows.ts';

export type Ledger = mongo.Collection<DeliveryRow>;

/**
 * Claims in bulk: inserts missing rows, which succeeds for one claimer only, and takes over due and stale rows by an
 * update that checks each row again.
 */
export async function claimRows(
  ledger: Ledger,
  claims: readonly Claim[],
  at: Parameters<Deliveries['claim']>[1],
): Promise<Set<string>> {
  const { now, staleAfterMs, again = [] } = at;
  const rows = newRows(claims, () => ({
    status: 'pending',
    reason: null,
    attempts: 1,
    retryAt: null,
    ...rowTime(now),
  }));
  const present = await insertMissing(ledger, rows);
  const claimedIds = new Set(claims.flatMap(({ deviceId }, place) => (present.has(place) ? [] : [deviceId])));
  if (present.size === 0) return claimedIds;
  const ids = [...present].map((place) => rows[place]!._id);
  const takenOverBy = storedId(randomUUID());
  const { modifiedCount } = await ledger.updateMany(
    {
      _id: { $in: ids },
      $or: [
        { status: 'retrying', retryAt: { $lte: now } },
        { status: 'retrying', retryAt: null },
        { status: 'pending', updatedAt: { $lt: now - staleAfterMs } },
        { status: { $in: [...again] } },
      ],
    },
    { $set: { status: 'pending', reason: null, retryAt: null, ...rowTime(now), takenOverBy }, $inc: { attempts: 1 } },
  );
  if (modifiedCount === 0) return claimedIds;
  const takenOver = await ledger.find({ _id: { $in: ids }, takenOverBy }, { projection: { _id: 1 } }).toArray();
  const takenOverKeys = new Set(takenOver.map(({ _id }) => keyOf(_id)));
  for (const place of present) {
    if (takenOverKeys.has(keyOf(rows[place]!._id))) claimedIds.add(claims[place]!.deviceId);
  }
  return claimedIds;
}

const keyOf = ({ device }: RowId) => (typeof device === 'string' ? `text ${device}` : device.toString('hex'));

/**
 * Stores outcomes in bulk. Tries to insert skips, most of which have no row, and to update with other outcomes, most of
 * which have one.
 */
export async function recordRows(ledger: Ledger, outcomes: readonly Outcome[], now: number): Promise<void> {
  const skips = outcomes.filter(({ status }) => status === 'skipped');
  const others = outcomes.filter(({ status }) => status !== 'skipped');
  if (skips.length > 0) await setOutcomes(ledger, await insertOutcomes(ledger, skips, now), now);
  if (others.length === 0) return;
  const matched = await setOutcomes(ledger, others, now);
  if (matched === others.length) return;
  const present = await insertOutcomes(ledger, others, now);
  // Some rows were claimed in between, or stay unchanged because they are `sent`.
  if (others.length - present.length + matched < others.length) await setOutcomes(ledger, present, now);
}

/** Inserts rows for the outcomes, and resolves with those that already had a row. */
async function insertOutcomes(ledger: Ledger, outcomes: readonly Outcome[], now: number): Promise<Outcome[]> {
  const present = await insertMissing(
    ledger,
    newRows(outcomes, (outcome) => ({ attempts: 0, ...outcomeFields(outcome, now) })),
  );
  return outcomes.filter((_, place) => present.has(place));
}

/**
 * Sets the outcomes of existing rows, with one update per distinct outcome; resolves with the number of matched rows.
 */
async function setOutcomes(ledger: Ledger, outcomes: readonly Outcome[], now: number): Promise<number> {
  if (outcomes.length === 0) return 0;
  const groups = Map.groupBy(outcomes, ({ status, reason, retryAt }) => `${status} ${retryAt} ${reason}`);
  const idOf = rowIdMaker();
  const updates = [...groups.values()].map((group) => {
    const fields = outcomeFields(group[0]!, now);
    const ids = group.map(idOf);
    const keepsSent = fields.status === 'skipped' || fields.status === 'retrying';
    return {
      updateMany: {
        filter: { _id: { $in: ids }, ...(keepsSent ? { status: { $ne: 'sent' as const } } : {}) },
        update: { $set: fields },
      },
    };
  });
  return (await ledger.bulkWrite(updates, { ordered: false })).matchedCount;
}

/** Inserts the rows whose IDs are unused; resolves with the indexes of the others. */
async function insertMissing(ledger: Ledger, rows: readonly DeliveryRow[]): Promise<Set<number>> {
  try {
    await ledger.insertMany([...rows], { ordered: false });
    return new Set();
  } catch (error) {
    const writeErrors = (error as { writeErrors?: unknown }).writeErrors;
    const errors = (Array.isArray(writeErrors) ? writeErrors : []) as {
      readonly index: number;
      readonly code: number;
    }[];
    if (errors.length === 0 || errors.some(({ code }) => code !== duplicateKey)) throw error;
    return new Set(errors.map(({ index }) => index));
  }
}
