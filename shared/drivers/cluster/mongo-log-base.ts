import type { Connection } from 'mongoose';
import { toUnavailable } from './mongo-connection.ts';

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

/** Reads it before the log's ends, so that a log that nothing happened to never ends below what was read. Throws `unavailable`. */
export async function readSeenLog(connection: Connection): Promise<SeenLog> {
  try {
    const [known, watermarks] = await Promise.all([
      collectionOf(connection).findOne({ _id: 'log' }),
      connection.db!.collection<{ _id: number; offset: number }>('watermarks').find().toArray(),
    ]);
    return {
      known: known === null ? null : { clusterId: known.clusterId, bases: known.bases },
      watermarks: new Map(watermarks.map(({ _id, offset }) => [_id, offset])),
    };
  } catch (error) {
    throw toUnavailable(error);
  }
}

/** Notes the log in a store that knows none yet; of several nodes that do so at once the first counts. */
export async function noteLog(connection: Connection, { clusterId, bases }: LogBase): Promise<void> {
  await collectionOf(connection).updateOne({ _id: 'log' }, { $setOnInsert: { clusterId, bases: [...bases] } }, { upsert: true });
}

/** Notes another log, or other bases, in place of what the store knows. No node may run. */
export async function replaceLog(connection: Connection, { clusterId, bases }: LogBase): Promise<void> {
  await collectionOf(connection).updateOne({ _id: 'log' }, { $set: { clusterId, bases: [...bases] } }, { upsert: true });
}
