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

test('a directory without a file is well, and so is an older file', () => {
  expect(inspect()).toMatchObject([{ state: 'ok' }, { state: 'ok', text: expect.stringContaining('will be made') }]);
  writeSchema(2);
  expect(inspect()).toMatchObject([
    { state: 'ok' },
    { state: 'ok', text: expect.stringContaining('brings it to the newest schema') },
  ]);
});

test('a newer file, a file of another kind and a directory that cannot be are faults', () => {
  writeSchema(4);
  expect(inspect()[1]).toMatchObject({ state: 'fault', text: expect.stringContaining('newer Tocsin') });
  writeFileSync(
    join(dir, 'tocsin.db'),
    'no database, and longer than a page of one would have to be to be taken for it'.repeat(100),
  );
  expect(inspect()[1]).toMatchObject({ state: 'fault', text: expect.stringContaining('cannot be read') });
  expect(inspect(join(dir, 'tocsin.db'))).toMatchObject([{ state: 'fault', text: expect.stringContaining('EEXIST') }]);
});
