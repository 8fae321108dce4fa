import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { inspectDataDir } from './inspect-data-dir.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-inspect-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const inspect = (at = dir) => inspectDataDir(at, { fileName: 'tocsin.db', schemaVersion: 3 });

function writeSchema(version: number): void {
  const db = new DatabaseSync(join(dir, 'tocsin.db'));
  db.exec(`CREATE TABLE t (a); PRAGMA user_version = ${version}`);
  db.close();
}

test('accepts a directory without a file, and an older file', () => {
  expect(inspect()).toMatchObject([{ state: 'ok' }, { state: 'ok', text: expect.stringContaining('will be created') }]);
  writeSchema(2);
  expect(inspect()).toMatchObject([
    { state: 'ok' },
    { state: 'ok', text: expect.stringContaining('migrates it to the latest schema') },
  ]);
});

test('reports a newer file, a foreign file and an impossible directory as faults', () => {
  writeSchema(4);
  expect(inspect()[1]).toMatchObject({ state: 'fault', text: expect.stringContaining('newer version of Tocsin') });
  writeFileSync(join(dir, 'tocsin.db'), 'not a database, and longer than one page'.repeat(100));
  expect(inspect()[1]).toMatchObject({ state: 'fault', text: expect.stringContaining('cannot be read') });
  expect(inspect(join(dir, 'tocsin.db'))).toMatchObject([{ state: 'fault', text: expect.stringContaining('EEXIST') }]);
});
