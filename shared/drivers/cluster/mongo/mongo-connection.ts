import { mongo, Mongoose, type Connection } from 'mongoose';
import { AppError, unavailable } from '../../../domain/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import { failEndedWrites } from './fail-ended-writes.ts';

/** How long an operation waits for a server: the ports guarantee a response within two seconds during an outage. */
const serverSelectionTimeoutMs = 1_500;
/**
 * With the connect timeout, the time after which a hanging server counts as down and pending operations fail.
 */
const heartbeatMs = 1_000;
const connectTimeoutMs = 3_000;
/** The time limit of a response, so that a missing one does not block its connection and its caller forever. */
const socketTimeoutMs = 30_000;
/**
 * Connections per process; each costs MongoDB a thread. 64 concurrent publishes to unknown topics were as fast
 * with 20 as with 50, and slower with 10.
 */
const poolSizeMax = 20;

/**
 * Connects to a MongoDB replica set and resolves once a primary responds; otherwise rejects with AppError
 * `unavailable`. The driver recovers from later outages. Writes are acknowledged by the majority. Reads use the
 * primary, so they see all acknowledged writes, and some that are not yet acknowledged. Reads with majority concern
 * could miss acknowledged writes after a failover (decision 0039). On this connection, filters are sanitized,
 * undeclared fields in filters throw, nothing is buffered while the server is down, and no index or collection is
 * created implicitly. The application name is the database's, unless the URL contains one, and identifies abandoned
 * transactions of this installation. Close with `close()`.
 */
export async function openMongo(url: string, { log }: { log: Logger }): Promise<Connection> {
  if (!failEndedWrites())
    log.warn('the MongoDB driver has unexpected internals: a command may hang if the server ends its connection');
  const mongoose = new Mongoose();
  mongoose.set({
    sanitizeFilter: true,
    strictQuery: 'throw',
    bufferCommands: false,
    autoIndex: false,
    autoCreate: false,
  });
  const connection = mongoose.createConnection(url, {
    serverSelectionTimeoutMS: serverSelectionTimeoutMs,
    heartbeatFrequencyMS: heartbeatMs,
    connectTimeoutMS: connectTimeoutMs,
    socketTimeoutMS: socketTimeoutMs,
    maxPoolSize: poolSizeMax,
    ...(/[?&]appName=/i.test(url) ? {} : { appName: `tocsin/${databaseOf(url)}` }),
    readPreference: 'primary',
    readConcern: { level: 'local' },
    // Only Tocsin writes here, from JavaScript strings. The check costs a tenth of the CPU time of a read.
    enableUtf8Validation: false,
    writeConcern: { w: 'majority', journal: true },
  });
  connection.on('error', (error: Error) => log.warn({ reason: error.message }, 'the connection to MongoDB failed'));
  try {
    return await connection.asPromise();
  } catch (error) {
    await connection.close().catch(() => undefined); // the first error shows the cause
    throw toUnavailable(error);
  }
}

/**
 * Returns the database in the URL, or the driver's default. Does not use `URL`, which rejects several hosts.
 */
const databaseOf = (url: string): string => /^[^/]+\/\/[^/]+\/([^?]+)/.exec(url)?.[1] ?? 'test';

/** Driver errors which mean that no server executed the operation or responded. */
const unavailableErrors: ReadonlySet<string> = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongooseServerSelectionError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoClientClosedError',
  'MongoPoolClearedError',
  'MongoPoolClearedOnNetworkError',
  'MongoPoolClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
  'MongoExpiredSessionError',
]);

/**
 * Server codes for: host unreachable or not found, network timeout, time limit exceeded, primary stepping down or
 * missing, shutting down, interrupted by an operator, write concern not satisfied in time, disk full, a cursor or plan
 * ended, a transaction that took too long, out of memory.
 */
const temporaryErrorCodes: ReadonlySet<number> = new Set([
  6, 7, 43, 50, 64, 89, 91, 100, 133, 134, 175, 189, 237, 262, 290, 365, 9001, 10107, 11600, 11601, 11602, 13388, 13435,
  13436, 14031,
]);

/** Server code for a duplicate unique key. */
export const duplicateKey = 11_000;

/** Server code for a missing index. */
export const indexNotFound = 27;

/** Ignores the server error with this code, and rethrows others. */
export const ignoring =
  (code: number) =>
  (error: unknown): void => {
    if ((error as { code?: unknown }).code !== code) throw error;
  };

/** Maps a MongoDB error: AppError `unavailable` if a retry can succeed, otherwise the same error. */
export function toUnavailable(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const { code, writeErrors } = error as { code?: unknown; writeErrors?: unknown };
  if (unavailableErrors.has(error.name) || (typeof code === 'number' && temporaryErrorCodes.has(code)))
    return unavailable('Database', error);
  // A bulk write hides its cause. Without a code and a rejected write, the error is not a server response.
  const isInterruptedBulk =
    error.name === 'MongoBulkWriteError' &&
    code === undefined &&
    Array.isArray(writeErrors) &&
    writeErrors.length === 0;
  if (isInterruptedBulk) return unavailable('Database', error);
  // Without a connection, mongoose rejects immediately with a plain MongooseError.
  if (error.name === 'MongooseError' && error.message.includes('initial connection'))
    return unavailable('Database', error);
  return error;
}

/**
 * Returns the indexes of a bulk write's operations that failed because their key exists. Throws the error if anything
 * else failed, even if only the write concern: the others are then not certain to be stored.
 */
export function duplicatesOf(error: unknown): Set<number> {
  if (!(error instanceof mongo.MongoBulkWriteError)) throw error;
  const concernError = error.result.getWriteConcernError();
  if (concernError !== undefined) throw unavailable('Database', concernError);
  const failed = [error.writeErrors].flat();
  if (failed.length === 0 || !failed.every(({ code }) => code === duplicateKey)) throw error;
  return new Set(failed.map(({ index }) => index));
}

/** Resolves like the work, or throws its error mapped by `toUnavailable`. */
export async function mapUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toUnavailable(error);
  }
}
