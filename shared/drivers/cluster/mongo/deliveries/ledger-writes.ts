import type { mongo } from 'mongoose';
import { batchLoader } from '../../../../async/batch-loader.ts';
import { smallPageSize, type Outcome } from '../../../../ports/deliveries.ts';
import { duplicatesOf } from '../mongo-connection.ts';
import { outcomeFields, rowIdMaker, type DeliveryRow } from './mongo-delivery-rows.ts';

export type Ledger = mongo.Collection<DeliveryRow>;

/** Small calls per command; a larger one has a command of its own. */
const callsMax = 50;

/** The bulk writes of the ledger. */
export interface LedgerWrites {
  /** Inserts the rows whose IDs are unused; resolves with the indexes of the others. */
  insertMissing(rows: readonly DeliveryRow[]): Promise<ReadonlySet<number>>;
  /** Sets the outcomes of existing rows; resolves with the number of matched rows. */
  setOutcomes(outcomes: readonly Outcome[], now: number): Promise<number>;
}

/** Small calls share a command while another one runs: most messages have few recipients. */
export function ledgerWrites(ledger: Ledger): LedgerWrites {
  const insertTogether = batchLoader(async (calls: (readonly DeliveryRow[])[]) => {
    const present = await insertMissing(ledger, calls.flat());
    let start = 0;
    return new Map(
      calls.map((rows) => {
        const from = start;
        start += rows.length;
        return [rows, new Set(rows.keys().filter((index) => present.has(from + index)))];
      }),
    );
  }, callsMax);
  const setTogether = batchLoader(async (calls: { outcomes: readonly Outcome[]; now: number }[]) => {
    const outcomes = calls.flatMap((call) => call.outcomes);
    const matched = await setOutcomes(ledger, outcomes, Math.max(...calls.map(({ now }) => now)));
    if (calls.length === 1) return new Map([[calls[0]!, matched]]);
    if (matched === outcomes.length) return new Map(calls.map((call) => [call, call.outcomes.length]));
    // MongoDB does not say which rows are missing, so each call repeats its update. No other worker can have claimed
    // these rows in between, because retries wait longer.
    return new Map(
      await Promise.all(calls.map(async (call) => [call, await setOutcomes(ledger, call.outcomes, call.now)] as const)),
    );
  }, callsMax);
  return {
    insertMissing: async (rows) =>
      rows.length > smallPageSize ? insertMissing(ledger, rows) : (await insertTogether(rows))!,
    setOutcomes: async (outcomes, now) => {
      if (outcomes.length === 0) return 0;
      return outcomes.length > smallPageSize
        ? setOutcomes(ledger, outcomes, now)
        : (await setTogether({ outcomes, now }))!;
    },
  };
}

async function insertMissing(ledger: Ledger, rows: readonly DeliveryRow[]): Promise<Set<number>> {
  try {
    await ledger.insertMany([...rows], { ordered: false });
    return new Set();
  } catch (error) {
    return duplicatesOf(error);
  }
}

/** Needs one update per distinct outcome. */
async function setOutcomes(ledger: Ledger, outcomes: readonly Outcome[], now: number): Promise<number> {
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
