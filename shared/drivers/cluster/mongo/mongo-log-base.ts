import type { Connection } from 'mongoose';
import { reaching } from './mongo-connection.ts';

/** What the store knows of the log that it is a view of. */
export interface LogBase {
  /** Kafka's id of the cluster: positions mean nothing on another one. */
  readonly clusterId: string;
  /** Added to a partition's broker offsets to make positions; 0 for a partition that is not in it. */
  readonly bases: readonly number[];
}

/** What the store says before the log is looked at. */
export interface SeenLog {
  /** Null in a store that was never used with a log. */
  readonly known: LogBase | null;
  /** Position per partition up to which everything is stored. */
  readonly watermarks: ReadonlyMap<number, number>;
}

interface LogBaseDocument {
  readonly _id: 'log';
  readonly clusterId: string;
  readonly bases: number[];
}

const collectionOf = (connection: Connection) => connection.db!.collection<LogBaseDocument>('log_base');
const watermarksOf = (connection: Connection) =>
  connection.db!.collection<{ _id: number; offset: number }>('watermarks');

/** Reads it before the log's ends, so that a log that nothing happened to never ends below what was read. Throws `unavailable`. */
export async function readSeenLog(connection: Connection): Promise<SeenLog> {
  const [known, watermarks] = await reaching(() =>
    Promise.all([collectionOf(connection).findOne({ _id: 'log' }), watermarksOf(connection).find().toArray()]),
  );
  return {
    known: known === null ? null : { clusterId: known.clusterId, bases: known.bases },
    watermarks: new Map(watermarks.map(({ _id, offset }) => [_id, offset])),
  };
}

/** What is added to the partition's broker offsets to make positions. */
export function baseOf({ known }: Pick<SeenLog, 'known'>, partition: number): number {
  return known?.bases[partition] ?? 0;
}

/** Notes the log in a store that knows none yet; of several nodes that do so at once the first counts. */
export async function noteLog(connection: Connection, { clusterId, bases }: LogBase): Promise<void> {
  await collectionOf(connection).updateOne(
    { _id: 'log' },
    { $setOnInsert: { clusterId, bases: [...bases] } },
    { upsert: true },
  );
}

/**
 * Notes another log, or other bases, in place of what the store knows, and has the store's view begin at the bases. No node may run.
 * Throws `unavailable`; whoever was killed in it has to do it again.
 */
export function replaceLog(connection: Connection, { clusterId, bases }: LogBase): Promise<void> {
  return reaching(async () => {
    // First, so that a start between the two is refused: the log ends below it by the old base.
    await watermarksOf(connection).bulkWrite(
      bases.map((base, partition) => ({
        updateOne: { filter: { _id: partition }, update: { $max: { offset: base - 1 } }, upsert: true },
      })),
    );
    await collectionOf(connection).updateOne(
      { _id: 'log' },
      { $set: { clusterId, bases: [...bases] } },
      { upsert: true },
    );
  });
}
