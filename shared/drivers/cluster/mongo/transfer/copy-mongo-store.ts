import { open } from 'node:fs/promises';
import { mongo, type ClientSession, type Connection } from 'mongoose';
import { chunkItems } from '../../../../async/chunk-items.ts';
import type { Logger } from '../../../../platform/logger.ts';
import { writeWholeFile } from '../../../../platform/write-whole-file.ts';
import type { CopyProgress, CopyReport } from '../../../../ports/backup.ts';
import { readArchive, writeArchive, type ArchiveWriter } from './mongo-archive.ts';
import { openMongo } from '../mongo-connection.ts';

export interface MongoCopyOptions {
  readonly url: string;
  readonly log: Logger;
  readonly onProgress: (progress: CopyProgress) => void;
}

/** Documents per chunk in the file. */
const stretchMax = 1_000;
/** The collection that contains a document while a restore is incomplete. */
const restores = 'restores';
/** Server codes for: the snapshot is too old or no longer available. */
const snapshotErrors: ReadonlySet<unknown> = new Set([239, 246]);

/**
 * Writes a consistent snapshot of the database, taken after the call, to a file. Nodes may run. The file is readable by
 * its owner only and gets its name once it is complete on disk. On failure, leaves no file and throws an error for the
 * operator.
 */
export async function backUpMongo(to: string, options: MongoCopyOptions): Promise<CopyReport> {
  return onConnection(options, async (connection, from) => {
    const bytes = await writeWholeFile(to, async (partial) => {
      const file = await open(partial, 'w');
      try {
        const archive = await writeArchive(file, connection.name);
        await readAll(connection, archive, options.onProgress);
        return await archive.end();
      } finally {
        await file.close();
      }
    });
    return { from, to, bytes };
  });
}

async function readAll(
  connection: Connection,
  archive: ArchiveWriter,
  onProgress: MongoCopyOptions['onProgress'],
): Promise<void> {
  const db = connection.db!;
  const names = (await collectionsOf(connection)).filter((name) => name !== restores);
  const counts = await Promise.all(names.map((name) => db.collection(name).estimatedDocumentCount()));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const session = await connection.startSession({ snapshot: true });
  let done = 0;
  try {
    for (const name of names) {
      for await (const stretch of stretchesOf(db.collection(name), session)) {
        await archive.write(name, stretch);
        done += stretch.length;
        onProgress({ done: Math.min(done, total), total });
      }
    }
    onProgress({ done: total, total });
  } catch (error) {
    if (!snapshotErrors.has((error as { code?: unknown }).code)) throw error;
    throw new Error(
      'MongoDB no longer has the snapshot of the start of the backup: set its parameter minSnapshotHistoryWindowInSeconds ' +
        'to more than the duration of a backup, or use mongodump --oplog',
      { cause: error },
    );
  } finally {
    await session.endSession();
  }
}

function stretchesOf(collection: mongo.Collection, session: ClientSession): AsyncIterable<Uint8Array[]> {
  const cursor = collection.find({}, { session, raw: true, batchSize: stretchMax, readConcern: { level: 'snapshot' } });
  return chunkItems(cursor as unknown as AsyncIterable<Uint8Array>, stretchMax);
}

/**
 * Restores such a file into an empty database. Verifies the whole file first, so that a truncated or modified file
 * leaves the database unchanged. The first node that starts creates the indexes. Throws an error for the operator.
 */
export async function restoreMongo(from: string, options: MongoCopyOptions): Promise<CopyReport> {
  let total = 0;
  let bytes = 0;
  for await (const { documents } of readArchive(from)) {
    total += documents.length;
    bytes += documents.reduce((sum, document) => sum + document.length, 0);
  }
  return onConnection(options, async (connection, to) => {
    await requireEmptyDatabase(connection, to);
    const db = connection.db!;
    await db.collection(restores).insertOne({ from, begunAt: new Date() });
    let done = 0;
    for await (const { collection, documents } of readArchive(from)) {
      // Keeps the number types of the file.
      await db.collection(collection).insertMany(
        documents.map((document) => mongo.BSON.deserialize(document, { promoteValues: false })),
        { ordered: false },
      );
      done += documents.length;
      options.onProgress({ done, total });
    }
    await db.dropCollection(restores);
    return { from, to, bytes };
  });
}

async function requireEmptyDatabase(connection: Connection, name: string): Promise<void> {
  for (const collection of await collectionsOf(connection)) {
    if ((await connection.db!.collection(collection).findOne({}, { projection: { _id: 1 } })) === null) continue;
    throw new Error(
      `${name} is not empty (it has ${collection}): name another database in MONGO_URL, or drop this one`,
    );
  }
}

/** Throws if a restore into this database was not completed. */
export async function requireCompleteRestore(connection: Connection): Promise<void> {
  const startedRestore = await connection.db!.collection(restores).findOne();
  if (startedRestore === null) return;
  throw new Error(
    `the restore of ${String(startedRestore['from'])} into the database ${connection.name} was not completed: drop the database and restore it again`,
  );
}

async function collectionsOf(connection: Connection): Promise<string[]> {
  const found = await connection.db!.listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
  return found
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('system.'))
    .sort();
}

/** Runs `act` with the name of the database. */
async function onConnection<T>(
  { url, log }: MongoCopyOptions,
  act: (connection: Connection, name: string) => Promise<T>,
): Promise<T> {
  const connection = await openMongo(url, { log });
  try {
    return await act(connection, `the database ${connection.name}`);
  } finally {
    await connection.close();
  }
}
