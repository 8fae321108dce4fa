import { randomUUID } from 'node:crypto';
import type { Claim, Deliveries, Outcome } from '../../../../ports/deliveries.ts';
import { newRows, outcomeFields, rowTime, storedId, type RowId } from './mongo-delivery-rows.ts';
import type { Ledger, LedgerWrites } from './ledger-writes.ts';

/**
 * Claims in bulk: inserts missing rows, which succeeds for one claimer only, and takes over due and stale rows by an
 * update that checks each row again.
 */
export async function claimRows(
  { ledger, writes }: { readonly ledger: Ledger; readonly writes: LedgerWrites },
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
  const present = await writes.insertMissing(rows);
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
export async function recordRows(writes: LedgerWrites, outcomes: readonly Outcome[], now: number): Promise<void> {
  const skips = outcomes.filter(({ status }) => status === 'skipped');
  const others = outcomes.filter(({ status }) => status !== 'skipped');
  if (skips.length > 0) await writes.setOutcomes(await insertOutcomes(writes, skips, now), now);
  if (others.length === 0) return;
  const matched = await writes.setOutcomes(others, now);
  if (matched === others.length) return;
  const present = await insertOutcomes(writes, others, now);
  // Some rows were claimed in between, or stay unchanged because they are `sent`.
  if (others.length - present.length + matched < others.length) await writes.setOutcomes(present, now);
}

/** Inserts rows for the outcomes, and resolves with those that already had a row. */
async function insertOutcomes(writes: LedgerWrites, outcomes: readonly Outcome[], now: number): Promise<Outcome[]> {
  const present = await writes.insertMissing(
    newRows(outcomes, (outcome) => ({ attempts: 0, ...outcomeFields(outcome, now) })),
  );
  return outcomes.filter((_, place) => present.has(place));
}
