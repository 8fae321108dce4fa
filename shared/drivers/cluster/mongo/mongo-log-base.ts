import type { Connection } from 'mongoose';
import { mapUnavailable } from './mongo-connection.ts';

/** The log that the store belongs to. */
export interface LogBase {
  /** Kafka's cluster ID: offsets are only valid on this cluster. */
  readonly clusterId: string;
  /** The base added to a partition's broker offsets; 0 for a missing partition. */
  readonly bases: readonly number[];
}

/** The state of the store before the log is checked. */
export interface RecordedLog {
  /** Null for a store that was never used with a log. */
  readonly known: LogBase | null;
  /** Per partition, the offset up to which everything is stored. */
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

/**
 * Reads the recorded log. Call it before reading the log's end offsets, so that an intact log never ends below the
 * stored offsets. Throws `unavailable`.
 */
export async function readSeenLog(connection: Connection): Promise<RecordedLog> {
  const [known, watermarks] = await mapUnavailable(() =>
    Promise.all([collectionOf(connection).findOne({ _id: 'log' }), watermarksOf(connection).find().toArray()]),
  );
  return {
    known: known === null ? null : { clusterId: known.clusterId, bases: known.bases },
    watermarks: new Map(watermarks.map(({ _id, offset }) => [_id, offset])),
  };
}

/** Returns the base added to the partition's broker offsets. */
export function baseOf({ known }: Pick<RecordedLog, 'known'>, partition: number): number {
  return known?.bases[partition] ?? 0;
}

/** Records the log in a store without one. If nodes do so concurrently, the first one wins. */
export async function recordLog(connection: Connection, { clusterId, bases }: LogBase): Promise<void> {
  await collectionOf(connection).updateOne(
    { _id: 'log' },
    { $setOnInsert: { clusterId, bases: [...bases] } },
    { upsert: true },
  );
}

/**
 * Replaces the recorded log or bases, and moves the watermarks to the bases. No node may run. Throws `unavailable`.
 * Must be repeated after a crash.
 */
export function replaceLog(connection: Connection, { clusterId, bases }: LogBase): Promise<void> {
  return mapUnavailable(async () => {
    // Moves the watermarks first, so that a node that starts in between is rejected: with the old bases, the log ends
    // below them.
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
