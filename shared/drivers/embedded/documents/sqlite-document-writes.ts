import type { SQLInputValue } from 'node:sqlite';
import {
  checkChanges,
  checkId,
  checkIncrements,
  checkNew,
  checkRaise,
  checkSum,
  checkVersion,
} from '../../../ports/document-checks.ts';
import { StaleVersion, UniqueKeyViolation, type Document, type Write } from '../../../ports/documents.ts';
import { decodeRow, encodeValue, firstRow, rowOf, type TableAccess } from './sqlite-document-rows.ts';
import { columnName, type DocumentTable } from './sqlite-document-tables.ts';

/*
 * The document writes as synchronous work. Each function checks its input immediately and returns the work to
 * run inside a write of the file. Work that throws UniqueKeyViolation or StaleVersion has changed nothing.
 */

export function insertWork(access: TableAccess, table: DocumentTable, document: object): () => Document {
  const { id, values } = checkNew(table.collection, document);
  const { insert, params } = insertOf(table, { id, values });
  const sql = `${insert} ON CONFLICT DO NOTHING RETURNING ${table.columnList}`;
  return () => {
    const row = firstRow(access.statement(sql), params);
    if (row !== undefined) return decodeRow(table, row);
    if (rowOf(access, table, id) !== undefined) throw new UniqueKeyViolation(table.collection.name, 'id');
    throw violation(access, table, { id, values });
  };
}

/** The statement, without a conflict clause, that inserts a document with version 1. */
function insertOf(
  table: DocumentTable,
  { id, values }: ReturnType<typeof checkNew>,
): { readonly insert: string; readonly params: SQLInputValue[] } {
  const params = [id, 1, ...encodeAll(table, values)];
  const places = params.map(() => '?').join(', ');
  return { insert: `INSERT INTO ${table.name} (${table.columnList}) VALUES (${places})`, params };
}

function accumulateWork(access: TableAccess, table: DocumentTable, document: object, sum: string | null): () => void {
  const { id, values } = checkNew(table.collection, document);
  if (sum !== null) checkSum(table.collection, sum, values.get(sum));
  const { insert, params } = insertOf(table, { id, values });
  const column = sum === null ? null : columnName(sum);
  const onConflict =
    column === null ? 'NOTHING' : `UPDATE SET ${column} = coalesce(${table.name}.${column}, 0) + excluded.${column}`;
  const sql = `${insert} ON CONFLICT (id) DO ${onConflict}`;
  return () => void access.statement(sql).run(...params);
}

export function updateWork(
  access: TableAccess,
  table: DocumentTable,
  at: { id: string; version: number },
  set: object,
): () => Document {
  checkId(table.collection, at.id);
  checkVersion(table.collection, at.version);
  const changes = checkChanges(table.collection, set);
  const assignments = [...[...changes.keys()].map((field) => `${columnName(field)} = ?`), 'version = version + 1'];
  const sql = `UPDATE OR IGNORE ${table.name} SET ${assignments.join(', ')} WHERE id = ? AND version = ? RETURNING ${table.columnList}`;
  const params = [...encodeAll(table, changes), at.id, at.version];
  return () => {
    const row = firstRow(access.statement(sql), params);
    if (row !== undefined) return decodeRow(table, row);
    const present = documentAt(access, table, at.id);
    if (present?.get('version') !== at.version) throw new StaleVersion(table.collection.name, at.id);
    throw violation(access, table, { id: at.id, values: new Map([...present, ...changes]) });
  };
}

export function incrementWork(access: TableAccess, table: DocumentTable, id: string, by: object): () => void {
  checkId(table.collection, id);
  const added = checkIncrements(table.collection, by);
  const assignments = [...added.keys()].map((field) => `${columnName(field)} = coalesce(${columnName(field)}, 0) + ?`);
  const sql = `UPDATE OR IGNORE ${table.name} SET ${assignments.join(', ')} WHERE id = ?`;
  return () => {
    if (added.size === 0 || access.statement(sql).run(...added.values(), id).changes === 1) return;
    const present = documentAt(access, table, id);
    if (present === null) return;
    for (const [field, value] of added) present.set(field, Number(present.get(field) ?? 0) + value);
    throw violation(access, table, { id, values: present });
  };
}

export function raiseWork(
  access: TableAccess,
  table: DocumentTable,
  { ids, field, to }: { ids: readonly string[]; field: string; to: number },
): () => void {
  checkRaise(table.collection, { field, to });
  const column = columnName(field);
  const sql = `UPDATE ${table.name} SET ${column} = ?1 WHERE id IN (SELECT value FROM json_each(?2)) AND (${column} IS NULL OR ${column} < ?1)`;
  return () => void access.statement(sql).run(to, JSON.stringify(ids));
}

/** Returns whether the document existed. With a version, throws if it did not exist with that version. */
export function removeWork(access: TableAccess, table: DocumentTable, id: string, version?: number): () => boolean {
  checkId(table.collection, id);
  if (version === undefined)
    return () => access.statement(`DELETE FROM ${table.name} WHERE id = ?`).run(id).changes === 1;
  checkVersion(table.collection, version);
  return () => {
    if (access.statement(`DELETE FROM ${table.name} WHERE id = ? AND version = ?`).run(id, version).changes === 1)
      return true;
    throw new StaleVersion(table.collection.name, id);
  };
}

function requireWork(access: TableAccess, table: DocumentTable, id: string, version: number): () => void {
  checkId(table.collection, id);
  checkVersion(table.collection, version);
  return () => {
    if (
      firstRow(access.statement(`SELECT 1 FROM ${table.name} WHERE id = ? AND version = ?`), [id, version]) ===
      undefined
    ) {
      throw new StaleVersion(table.collection.name, id);
    }
  };
}

/** Returns the work of one write of a commit. If it throws, the whole commit must be rolled back. */
export function workOf(access: TableAccess, write: Write): () => unknown {
  const table = access.tableOf(write.collection);
  switch (write.kind) {
    case 'insert':
      return insertWork(access, table, write.document);
    case 'accumulate':
      return accumulateWork(access, table, write.document, write.sum);
    case 'update':
      return updateWork(access, table, write, write.set);
    case 'increment':
      return incrementWork(access, table, write.id, write.by);
    case 'remove':
      return removeWork(access, table, write.id, write.version);
    case 'require':
      return requireWork(access, table, write.id, write.version);
  }
}

function encodeAll({ collection }: DocumentTable, values: ReadonlyMap<string, unknown>): SQLInputValue[] {
  return [...values].map(([field, value]) => encodeValue(value, collection.fields[field] === 'json'));
}

function documentAt(access: TableAccess, table: DocumentTable, id: string): Map<string, unknown> | null {
  const row = rowOf(access, table, id);
  return row === undefined ? null : new Map<string, unknown>(Object.entries(decodeRow(table, row)));
}

/** Returns the key that a row with these values violates: the first declared one that another row has. */
function violation(
  { statement }: TableAccess,
  table: DocumentTable,
  { id, values }: { id: string; values: ReadonlyMap<string, unknown> },
): Error {
  for (const [key, fields] of Object.entries(table.collection.uniqueKeys)) {
    const same = fields.map((field) => `${columnName(field)} = ?`).join(' AND ');
    const params = fields.map((field) => (field === 'id' ? id : encodeValue(values.get(field))));
    const other = firstRow(statement(`SELECT 1 FROM ${table.name} WHERE ${same} AND id <> ?`), [...params, id]);
    if (other !== undefined) return new UniqueKeyViolation(table.collection.name, key);
  }
  return new Error(`${table.name}: a row was rejected, but not by any of its unique keys`);
}
