import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { emptyDatabases } from './empty-databases.ts';

const dir = mkdtempSync(join(tmpdir(), 'tocsin-empty-databases-'));
afterAll(() => rmSync(dir, { recursive: true }));

const databasesOn = (host: string) => emptyDatabases(`mongodb://${host}:27017/?replicaSet=rs0`, dir);

test('hands out each added database once, also to other processes', () => {
  const [one, other] = [databasesOn('a.example.com'), databasesOn('a.example.com')];
  one.add('first');
  one.add('second');
  expect([other.take(), one.take()].sort()).toEqual(['first', 'second']);
  expect([other.take(), one.take()]).toEqual([undefined, undefined]);
});

test('hands out no database of another server', () => {
  databasesOn('b.example.com').add('first');
  expect(databasesOn('c.example.com').take()).toBeUndefined();
});
