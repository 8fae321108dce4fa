import type { DatabaseSync } from 'node:sqlite';
import type { FieldKind } from '../../../ports/documents.ts';
import { checkCollection, kindOf, type AnyCollection } from '../../../ports/document-checks.ts';

/** The table of a collection. Names are quoted and come from declarations only. */
export interface DocumentTable {
  readonly collection: AnyCollection;
  readonly name: string;
  /** ID, version and the declared fields, in row order. */
  readonly columns: readonly Column[];
  readonly columnList: string;
  /** The statement that reads the row of an ID. */
  readonly byId: string;
}

export interface Column {
  readonly field: string;
  readonly kind: FieldKind;
  readonly name: string;
}

const sqlTypes: { readonly [K in FieldKind]: string } = {
  text: 'TEXT',
  integer: 'INTEGER',
  real: 'REAL',
  boolean: 'INTEGER',
  time: 'INTEGER',
  json: 'TEXT',
};

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the quoted table name of a collection, for drivers that join it. */
export const documentTableName = (collection: AnyCollection): string => `"doc_${snakeCase(collection.name)}"`;
export const columnName = (field: string): string => `"${snakeCase(field)}"`;

const indexPrefix = (collection: AnyCollection) => `doc_${snakeCase(collection.name)}__`;
export const indexName = (collection: AnyCollection, index: string): string =>
  `"${indexPrefix(collection)}${snakeCase(index)}"`;

export function documentTable(collection: AnyCollection): DocumentTable {
  checkCollection(collection);
  return tableWith(collection, ['id', 'version', ...Object.keys(collection.fields)]);
}

function tableWith(collection: AnyCollection, fields: readonly string[]): DocumentTable {
  const name = documentTableName(collection);
  const columns = fields.map((field) => ({ field, kind: kindOf(collection, field), name: columnName(field) }));
  const columnList = columns.map((column) => column.name).join(', ');
  return { collection, name, columns, columnList, byId: `SELECT ${columnList} FROM ${name} WHERE id = ?` };
}

/** The views of each table, by their fields; the code names few lists of fields. */
const viewsOf = new WeakMap<DocumentTable, Map<string, DocumentTable>>();

/** Returns a view of the table with only these columns, in this order. Throws for an undeclared field. */
export function withColumns(table: DocumentTable, fields: readonly string[]): DocumentTable {
  const views = viewsOf.get(table) ?? new Map<string, DocumentTable>();
  viewsOf.set(table, views);
  const key = fields.join();
  const view = views.get(key) ?? tableWith(table.collection, fields);
  views.set(key, view);
  return view;
}

/**
 * Migrates the tables to their declarations in one transaction: adds missing tables, columns (null in existing rows)
 * and indexes, and drops changed or undeclared indexes. Never removes columns. Throws if existing rows violate a new
 * unique key.
 */
export function prepareTables(db: DatabaseSync, tables: readonly DocumentTable[]): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const table of tables) {
      prepareColumns(db, table);
      prepareIndexes(db, table);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function prepareColumns(db: DatabaseSync, { name, columns }: DocumentTable): void {
  const [, , ...declared] = columns;
  const definitions = declared.map((column) => `${column.name} ${sqlTypes[column.kind]}`);
  db.exec(
    `CREATE TABLE IF NOT EXISTS ${name} (${['id TEXT PRIMARY KEY NOT NULL', 'version INTEGER NOT NULL', ...definitions].join(', ')}) STRICT, WITHOUT ROWID`,
  );
  const present = new Map(
    db
      .prepare(`PRAGMA table_info(${name})`)
      .all()
      .map((row) => [`"${String(row.name)}"`, row.type]),
  );
  declared.forEach((column, index) => {
    const type = present.get(column.name);
    if (type === undefined) db.exec(`ALTER TABLE ${name} ADD COLUMN ${definitions[index]}`);
    else if (type !== sqlTypes[column.kind])
      throw new Error(`${name}.${column.name} is ${String(type)} in the file but declared as ${column.kind}`);
  });
}

function prepareIndexes(db: DatabaseSync, { collection, name }: DocumentTable): void {
  const wanted = new Map<string, string>();
  // SQLite does not apply a unique key to rows with a null in it, which is the port's rule. The ID, the last sort
  // column, is part of each index because the table is clustered by it.
  const define =
    (kind: string) =>
    ([index, fields]: [string, readonly string[]]) =>
      wanted.set(
        indexName(collection, index),
        `CREATE ${kind} ${indexName(collection, index)} ON ${name} (${fields.map(columnName).join(', ')})`,
      );
  Object.entries(collection.uniqueKeys).forEach(define('UNIQUE INDEX'));
  Object.entries(collection.indexes).forEach(define('INDEX'));

  const ours = `substr(name, 1, length(?1)) = ?1`;
  const present = db
    .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?2 AND ${ours}`)
    .all(indexPrefix(collection), name.slice(1, -1))
    .map((row) => [`"${String(row.name)}"`, row.sql] as const);
  for (const [index, sql] of present) {
    if (wanted.get(index) === sql) wanted.delete(index);
    else db.exec(`DROP INDEX ${index}`);
  }
  for (const sql of wanted.values()) db.exec(sql);
}
