import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { Plan } from '../../../ports/document-checks.ts';
import type { Document } from '../../../ports/documents.ts';
import { columnName, indexName, type Column, type DocumentTable } from './sqlite-document-tables.ts';

/** Rows are arrays in the order of the table's columns. */
export type Row = readonly SQLOutputValue[];

/** Access to the compiled statements and tables of the collections. */
export interface TableAccess {
  readonly statement: (sql: string) => StatementSync;
  readonly tableOf: (collection: { readonly name: string }) => DocumentTable;
}

export function encodeValue(value: unknown, isJson = false): SQLInputValue {
  if (value === null || value === undefined) return null;
  if (isJson) return JSON.stringify(value);
  return typeof value === 'boolean' ? Number(value) : (value as string | number);
}

export function decodeRow({ columns }: DocumentTable, row: Row): Document {
  const document: { [field: string]: unknown } = {};
  for (let index = 0; index < columns.length; index++) {
    document[columns[index]!.field] = decodeValue(columns[index]!, row[index]!);
  }
  return document as unknown as Document;
}

function decodeValue({ kind }: Column, value: SQLOutputValue): unknown {
  if (value === null) return null;
  if (kind === 'boolean') return value === 1;
  return kind === 'json' ? JSON.parse(value as string) : value;
}

export function firstRow(statement: StatementSync, params: readonly SQLInputValue[]): Row | undefined {
  return statement.get(...params) as unknown as Row | undefined;
}

function allRows(statement: StatementSync, params: readonly SQLInputValue[]): Row[] {
  return statement.all(...params) as unknown as Row[];
}

export function rowOf({ statement }: TableAccess, table: DocumentTable, id: string): Row | undefined {
  return firstRow(statement(table.byId), [id]);
}

/** Reading fewer rows one by one is faster than a join with the IDs (measured). */
const joinedMin = 3;

export function rowsOf(access: TableAccess, table: DocumentTable, ids: readonly string[]): Row[] {
  if (ids.length < joinedMin) {
    const rows = [...new Set(ids)].map((id) => rowOf(access, table, id));
    return rows.filter((row) => row !== undefined);
  }
  const sql = `SELECT ${table.columnList} FROM ${table.name} WHERE id IN (SELECT value FROM json_each(?))`;
  return allRows(access.statement(sql), [JSON.stringify(ids)]);
}

/** Skipping fewer rows than this is faster than a join (measured). */
const passedOverMin = 200;

/**
 * Returns the rows of a plan, ordered by the rest of its index, then by ID. Skips a large offset within the index,
 * because SQLite would otherwise look up each skipped row.
 */
export function rowsFound({ statement }: TableAccess, table: DocumentTable, plan: Plan): Row[] {
  const { from, params } = matching(table, plan);
  const direction = plan.isDescending ? ' DESC' : '';
  const order = (prefix: string) =>
    [...new Set([...plan.rest, 'id'])].map((field) => prefix + columnName(field) + direction).join(', ');
  const page = `FROM ${from} ORDER BY ${order('')} LIMIT ? OFFSET ?`;
  const sql =
    plan.offset < passedOverMin
      ? `SELECT ${table.columnList} ${page}`
      : `SELECT ${table.columns.map(({ name }) => `d.${name}`).join(', ')} FROM (SELECT id ${page}) AS page
       CROSS JOIN ${table.name} AS d ON d.id = page.id ORDER BY ${order('d.')}`;
  return allRows(statement(sql), [...params, plan.limit, plan.offset]);
}

export function countRows({ statement }: TableAccess, table: DocumentTable, plan: Plan): number {
  const { from, params } = matching(table, plan);
  return firstRow(statement(`SELECT count(*) FROM ${from}`), params)![0] as number;
}

function matching(table: DocumentTable, plan: Plan): { from: string; params: SQLInputValue[] } {
  const conditions = plan.equals.map(([field]) => `${columnName(field)} = ?`);
  const params = plan.equals.map(([, value]) => encodeValue(value));
  const next = plan.rest[0];
  if (next !== undefined && plan.from !== undefined) {
    conditions.push(`${columnName(next)} >= ?`);
    params.push(plan.from);
  }
  if (next !== undefined && plan.to !== undefined) {
    conditions.push(`${columnName(next)} <= ?`);
    params.push(plan.to);
  }
  if (plan.isUniqueKey) conditions.push(...plan.rest.map((field) => `${columnName(field)} IS NOT NULL`));
  // Names the index, so that SQLite does not choose another index with the same prefix and sort the result.
  const indexed = `${table.name} INDEXED BY ${indexName(table.collection, plan.index)}`;
  return { from: conditions.length === 0 ? indexed : `${indexed} WHERE ${conditions.join(' AND ')}`, params };
}
