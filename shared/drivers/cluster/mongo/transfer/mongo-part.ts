import type { mongo } from 'mongoose';
import type { Row } from '../../../../ports/installation-rows.ts';

/** How the rows of a part of an installation are read from a collection and written to it. */
export interface MongoPart {
  readonly collection: mongo.Collection;
  /** The row of a document. */
  toRow(document: mongo.Document): Row;
  toDocuments(rows: readonly Row[]): Promise<mongo.Document[]> | mongo.Document[];
  /** Reads in place of a walk by `_id`, where a row is made of several documents. */
  readonly pages?: () => AsyncIterable<readonly Row[]>;
}
