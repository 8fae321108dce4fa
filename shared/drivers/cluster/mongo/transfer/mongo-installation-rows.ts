import type { Connection, mongo } from 'mongoose';
import { baseAbove } from '../../../../domain/log/base-above.ts';
import type { AnyCollection } from '../../../../ports/document-checks.ts';
import {
  rowsPageMax,
  type ExportState,
  type ImportPlace,
  type InstallationRows,
} from '../../../../ports/installation-rows.ts';
import { installationParts } from '../../../installation-parts.ts';
import type { KafkaEventLog } from '../../kafka/kafka-event-log.ts';
import { duplicateKey, reaching } from '../mongo-connection.ts';
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
  const places = placesOf(connection);
  return {
    engine: 'cluster',
    partitions: eventLog.partitions,
    ends: () =>
      reaching(() =>
        Promise.all(Array.from({ length: eventLog.partitions }, (_, partition) => eventLog.end(partition))),
      ),
    async *rows(name) {
      const { collection, toRow, pages } = partOf(name);
      if (pages !== undefined) return yield* pages();
      for (let after: unknown = undefined; ;) {
        const found = await reaching(() =>
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
      reaching(async () => insertMissing(partOf(name).collection, await partOf(name).toDocuments(rows))),
    importPlace: () => reaching(async () => (await places.findOne({ _id: 'import' }))?.place ?? null),
    keepImportPlace: (place) =>
      reaching(async () => {
        await places.updateOne({ _id: 'import' }, { $set: { place } }, { upsert: true });
      }),
    finishImport: (ends) =>
      reaching(async () => {
        const lowest = baseAbove(Math.max(...ends) - 1);
        const bases = Array.from(
          { length: eventLog.partitions },
          (_, partition) => lowest + partition * partitionsApart,
        );
        await replaceLog(connection, { clusterId: eventLog.clusterId, bases });
        await places.deleteOne({ _id: 'import' });
      }),
    state: () => reaching(options.state),
    close: options.close,
  };
}

interface PlaceDocument {
  readonly _id: 'import';
  readonly place: ImportPlace;
}

const placesOf = (connection: Connection): mongo.Collection<PlaceDocument> =>
  connection.db!.collection<PlaceDocument>('import_place');

/** Rejects a database with an unfinished import. */
export async function requireNoImport(connection: Connection): Promise<void> {
  if ((await reaching(() => placesOf(connection).findOne({ _id: 'import' }))) === null) return;
  throw new Error(
    'An import into this installation is unfinished: run the same `tocsin import` again, or use an empty database',
  );
}

/** Inserts documents with new `_id`s; rejects if a document violates another unique key. */
async function insertMissing(collection: mongo.Collection, documents: mongo.Document[]): Promise<void> {
  try {
    await collection.insertMany(documents, { ordered: false });
  } catch (error) {
    const refused = (error as { writeErrors?: unknown }).writeErrors;
    const refusals = (Array.isArray(refused) ? refused : []) as { readonly code: number; readonly errmsg?: string }[];
    if (
      refusals.length === 0 ||
      refusals.some(({ code, errmsg }) => code !== duplicateKey || errmsg?.includes(' index: _id_ ') !== true)
    )
      throw error;
  }
}
