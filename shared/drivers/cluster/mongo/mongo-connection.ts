import { Mongoose, type Connection } from 'mongoose';
import { AppError, unavailable } from '../../../domain/errors.ts';
import type { Logger } from '../../../platform/logger.ts';

/** How long an operation waits for a server to be found. The ports promise an answer within two seconds while it is away. */
const serverSelectionTimeoutMs = 1_500;
/** Together with the connect timeout the time after which a server that hangs counts as gone, and what waits for it fails. */
const heartbeatMs = 1_000;
const connectTimeoutMs = 3_000;
/** Harm prevented: an answer that never comes would keep its connection, and its caller, for good. */
const socketTimeoutMs = 30_000;
const poolSizeMax = 50;

/**
 * Connects to MongoDB, a replica set, and resolves once a primary answers; rejects with AppError `unavailable` else.
 * Outages after that are the driver's to heal. Writes are acknowledged by the majority, and reads see what the primary has: all
 * that was acknowledged to anybody, and what is about to be. Reads of what the majority has would miss the last writes of a former
 * primary, acknowledged as they are, until the new one has learned of that majority (decision 0039).
 * The settings are this connection's own: filters are sanitized, undeclared fields in them throw, nothing is buffered
 * while the server is away, and no index or collection is made without being asked for. It is named after the database, unless
 * the URL has a name for it: so the transactions that an installation's processes leave behind can be told from others'. Close with
 * `close()`.
 */
export async function openMongo(url: string, { log }: { log: Logger }): Promise<Connection> {
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
    writeConcern: { w: 'majority', journal: true },
  });
  connection.on('error', (error: Error) => log.warn({ reason: error.message }, 'the connection to MongoDB failed'));
  try {
    return await connection.asPromise();
  } catch (error) {
    await connection.close().catch(() => undefined); // the first error is the one that tells
    throw toUnavailable(error);
  }
}

/** The database that the URL names, or the driver's own choice. A list of hosts is no URL that could be parsed as one. */
const databaseOf = (url: string): string => /^[^/]+\/\/[^/]+\/([^?]+)/.exec(url)?.[1] ?? 'test';

/** Errors of the driver that say nothing about the operation, only that no server did it or said so. */
const away: ReadonlySet<string> = new Set([
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
 * Server codes for: host unreachable or not found, network timeout, time limit exceeded, primary stepping down or not
 * there, shutting down, interrupted by an operator, write concern not satisfied in time, disk full, a cursor or plan ended,
 * a transaction that took too long, memory short.
 */
const passing: ReadonlySet<number> = new Set([
  6, 7, 43, 50, 64, 89, 91, 100, 133, 134, 175, 189, 237, 262, 290, 365, 9001, 10107, 11600, 11601, 11602, 13388, 13435,
  13436, 14031,
]);

/** Server code for a unique key that is there already. */
export const duplicateKey = 11_000;

/** Server code for an index that is not there. */
export const indexNotFound = 27;

/** Swallows the server's error of this code, and throws any other. */
export const ignoring =
  (code: number) =>
  (error: unknown): void => {
    if ((error as { code?: unknown }).code !== code) throw error;
  };

/** The error to throw for one that MongoDB gave: AppError `unavailable` where a later try can succeed, else the same. */
export function toUnavailable(error: unknown): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const { code, writeErrors } = error as { code?: unknown; writeErrors?: unknown };
  if (away.has(error.name) || (typeof code === 'number' && passing.has(code))) return unavailable('Database', error);
  // A bulk write hides what ended it; without a code and a refused write it was no answer of the server.
  const isCutBulk =
    error.name === 'MongoBulkWriteError' &&
    code === undefined &&
    Array.isArray(writeErrors) &&
    writeErrors.length === 0;
  if (isCutBulk) return unavailable('Database', error);
  // Without a connection mongoose refuses at once, by a plain MongooseError.
  if (error.name === 'MongooseError' && error.message.includes('initial connection'))
    return unavailable('Database', error);
  return error;
}

/** What the work resolves with, or throws its error as `toUnavailable` has it. */
export async function reaching<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toUnavailable(error);
  }
}
