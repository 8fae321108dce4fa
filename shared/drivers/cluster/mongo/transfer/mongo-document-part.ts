import type { Connection } from 'mongoose';
import { checkNew, checkVersion, type AnyCollection } from '../../../../ports/document-checks.ts';
import type { Row } from '../../../../ports/installation-rows.ts';
import { decodeDocument, encodeValues, type Stored } from '../documents/mongo-document-values.ts';
import type { MongoPart } from './mongo-part.ts';

/** The documents of a collection as rows, with their versions. */
export function mongoDocumentPart(connection: Connection, collection: AnyCollection): MongoPart {
  return {
    collection: connection.db!.collection(collection.name),
    toRow: (document) => decodeDocument(collection, document as Stored),
    toDocuments: (rows) => rows.map((row) => toStored(collection, row)),
  };
}

function toStored(collection: AnyCollection, row: Row): object {
  const { id, values } = checkNew(collection, row);
  const { version } = row as { version: number };
  checkVersion(collection, version);
  return { _id: id, version, ...encodeValues(collection, values) };
}
