import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SqliteFile } from './sqlite/sqlite-file.ts';
import { inspectDataDir } from './data-dir/inspect-data-dir.ts';
import { lockDataDir } from './data-dir/lock-data-dir.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tocsin-private-'));
  chmodSync(dir, 0o755);
});
afterEach(() => rmSync(dir, { recursive: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('an existing data directory and its database are accessible only to their owner', async () => {
  const unlock = lockDataDir(dir);
  const path = join(dir, 'tocsin.db');
  const file = new SqliteFile(path);
  await file.write(() => file.db.exec('CREATE TABLE things (id)'));
  expect([modeOf(dir), modeOf(path), modeOf(`${path}-wal`)]).toEqual(['700', '600', '600']);
  file.close();
  unlock();
});

test('doctor warns of a data directory that other users can read', () => {
  const warnings = () =>
    inspectDataDir(dir, { fileName: 'tocsin.db', schemaVersion: 1 }).filter(({ text }) => text.includes('chmod 700'));
  expect(warnings()).toHaveLength(1);
  chmodSync(dir, 0o700);
  expect(warnings()).toEqual([]);
});
