import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closers, type Closers } from '../../../platform/lifecycle.ts';
import { migrate, type Migration } from './migrations.ts';
import { SqliteFile } from './sqlite-file.ts';

const numbers: Migration = { name: 'numbers', sql: 'CREATE TABLE numbers (value INTEGER NOT NULL)' };
const names: Migration = { name: 'names', sql: 'CREATE TABLE names (value TEXT NOT NULL)' };

let own: Closers;
let path: string;
beforeEach(() => {
  own = closers();
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-migrations-'));
  own.add(() => rmSync(folder, { recursive: true }));
  path = join(folder, 'test.db');
});
afterEach(() => own.closeAll());

const open = (): SqliteFile => {
  const file = new SqliteFile(path);
  own.add(() => file.close());
  return file;
};
const tables = ({ db }: SqliteFile) =>
  db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
    .all()
    .map(({ name }) => name);

test('runs each migration once, in list order', () => {
  migrate(open(), [numbers]);
  const file = open();
  migrate(file, [numbers, names]);
  migrate(file, [numbers, names]);
  expect(tables(file)).toEqual(['names', 'numbers']);
});

test('opens a file with the latest schema while another connection holds its lock', () => {
  migrate(open(), [numbers]);
  const writer = new DatabaseSync(path);
  own.add(() => writer.close());
  writer.exec('BEGIN IMMEDIATE');
  const file = open();
  migrate(file, [numbers]);
  expect(tables(file)).toEqual(['numbers']);
});

test('rejects a file of a newer version', () => {
  migrate(open(), [numbers, names]);
  expect(() => migrate(open(), [numbers])).toThrow(
    /test\.db has schema 2, this version supports 1: use a newer version of Tocsin$/,
  );
});
