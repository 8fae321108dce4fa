import type { Connection, mongo } from 'mongoose';
import { baseAbove } from '../../../../domain/log/base-above.ts';
import type { AnyCollection } from '../../../../ports/document-checks.ts';
import {
  rowsPageMax,
  type ExportState,
  type ImportProgress,
  type InstallationRows,
} from '../../../../ports/installation-rows.ts';
import { installationParts } from '../../../installation-parts.ts';
import type { KafkaEventLog } from '../../kafka/kafka-event-log.ts';
import { duplicateKey, mapUnavailable } from '../mongo-connection.ts';
import { mongoDocumentPart } from './mongo-document-part.ts';
import { replaceLog } from '../mongo-log-base.ts';
import type { MessageCollections } from '../messages/mongo-message-collections.ts';
import { mongoStoreParts } from './mongo-store-parts.ts';

export interface MongoInstallationOptions {
  readonly connection: Connection;
  readonly collections: readonly AnyCollection[];
  readonly messages: MessageCollections;
  readonly eventLog: KafkaEventLog;
  readonly state: () => Promise<ExportState>;
  readonly close: () => Promise<void>;
}

/**
 * The distance between the bases of imported partitions, more than a partition can have records. It keeps offsets
 * unique over all partitions, so that the installation can be moved back to one file.
 */
const partitionsApart = 1_000_000_000_000;

/** The rows of a cluster's installation. No node may run, because concurrent writes are not detected. */
export function mongoInstallationRows(options: MongoInstallationOptions): InstallationRows {
  const { connection, collections, messages, eventLog } = options;
  const partOf = installationParts(mongoStoreParts(connection, messages), collections, (collection) =>
    mongoDocumentPart(connection, collection),
  );
  const progress = progressCollection(connection);
  return {
    engine: 'cluster',
    partitions: eventLog.partitions,
    ends: () =>
      mapUnavailable(() =>
        Promise.all(Array.from({ length: eventLog.partitions }, (_, partition) => eventLog.end(partition))),
      ),
    async *rows(name) {
      const { collection, toRow, pages } = partOf(name);
      if (pages !== undefined) return yield* pages();
      for (let after: unknown = undefined; ;) {
        const found = await mapUnavailable(() =>
          collection
            .find(after === undefined ? {} : { _id: { $gt: after as never } })
            .sort({ _id: 1 })
            .limit(rowsPageMax)
            .toArray(),
        );
        if (found.length > 0) yield found.map(toRow);
        if (found.length < rowsPageMax) return;
        after = found.at(-1)!._id;
      }
    },
    write: (name, rows) =>
      mapUnavailable(async () => insertMissing(partOf(name).collection, await partOf(name).toDocuments(rows))),
    importProgress: () => mapUnavailable(async () => (await progress.findOne({ _id: 'import' }))?.place ?? null),
    saveImportProgress: (place) =>
      mapUnavailable(async () => {
        await progress.updateOne({ _id: 'import' }, { $set: { place } }, { upsert: true });
      }),
    finishImport: (ends) =>
      mapUnavailable(async () => {
        const lowest = baseAbove(Math.max(...ends) - 1);
        const bases = Array.from(
          { length: eventLog.partitions },
          (_, partition) => lowest + partition * partitionsApart,
        );
        await replaceLog(connection, { clusterId: eventLog.clusterId, bases });
        await progress.deleteOne({ _id: 'import' });
      }),
    state: () => mapUnavailable(options.state),
    close: options.close,
  };
}

interface PlaceDocument {
  readonly _id: 'import';
  readonly place: ImportProgress;
}

const progressCollection = (connection: Connection): mongo.Collection<PlaceDocument> =>
  connection.db!.collection<PlaceDocument>('import_place');

/** Rejects a database with an unfinished import. */
export async function requireNoImport(connection: Connection): Promise<void> {
  if ((await mapUnavailable(() => progressCollection(connection).findOne({ _id: 'import' }))) === null) return;
  throw new Error(
    'An import into this installation is unfinished: run the same `tocsin import` again, or use an empty database',
  );
}

/** Inserts documents with new `_id`s; rejects if a document violates another unique key. */
async function insertMissing(collection: mongo.Collection, documents: mongo.Document[]): Promise<void> {
  try {
    await collection.insertMany(documents, { ordered: false });
  } catch (error) {
    const writeErrors = (error as { writeErrors?: unknown }).writeErrors;
    const errors = (Array.isArray(writeErrors) ? writeErrors : []) as {
      readonly code: number;
      readonly errmsg?: string;
    }[];
    if (
      errors.length === 0 ||
      errors.some(({ code, errmsg }) => code !== duplicateKey || errmsg?.includes(' index: _id_ ') !== true)
    )
      throw error;
  }
}
