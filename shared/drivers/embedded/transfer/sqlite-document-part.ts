import { checkNew, checkVersion, type AnyCollection } from '../../../ports/document-checks.ts';
import { decodeRow, encodeValue } from '../documents/sqlite-document-rows.ts';
import { documentTable } from '../documents/sqlite-document-tables.ts';
import { rowsPageMax } from '../../../ports/installation-rows.ts';
import type { SqliteAccess, SqlitePart } from './sqlite-part.ts';

/** The documents of a collection as rows, with their versions. */
export function sqliteDocumentPart({ all, run }: SqliteAccess, collection: AnyCollection): SqlitePart {
  const table = documentTable(collection);
  const insert = `INSERT INTO ${table.name} (${table.columnList}) VALUES (${table.columns.map(() => '?').join(', ')}) ON CONFLICT (id) DO NOTHING`;
  return {
    page: (after) => {
      const found = all(
        `SELECT ${table.columnList} FROM ${table.name} WHERE id > ? ORDER BY id LIMIT ${rowsPageMax}`,
        (after ?? '') as string,
      );
      return { rows: found.map((row) => decodeRow(table, row as never)), last: found.at(-1)?.[0] ?? null };
    },
    write: (row) => {
      const { id, values } = checkNew(collection, row);
      const { version } = row as { version: number };
      checkVersion(collection, version);
      run(
        insert,
        id,
        version,
        ...[...values].map(([field, value]) => encodeValue(value, collection.fields[field] === 'json')),
      );
    },
  };
}
