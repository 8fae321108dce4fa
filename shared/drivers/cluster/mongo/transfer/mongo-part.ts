import type { mongo } from 'mongoose';
import type { Row } from '../../../../ports/installation-rows.ts';

/** Reads the rows of a part of an installation from a collection and writes them. */
export interface MongoPart {
  readonly collection: mongo.Collection;
  /** Converts a document to a row. */
  toRow(document: mongo.Document): Row;
  toDocuments(rows: readonly Row[]): Promise<mongo.Document[]> | mongo.Document[];
  /** Replaces the read by `_id` if a row consists of several documents. */
  readonly pages?: () => AsyncIterable<readonly Row[]>;
}
