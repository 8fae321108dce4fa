import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SqliteFile } from './sqlite-file.ts';

describe('a SQLite file with group commit', () => {
  let folder: string;
  let file: SqliteFile;
  const insert = (value: number) => file.db.prepare('INSERT INTO numbers VALUES (?)').run(value);
  const stored = () =>
    file.db
      .prepare('SELECT value FROM numbers ORDER BY value')
      .all()
      .map((row) => row['value']);
  const failing = () => {
    throw new Error('an error of other work');
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tocsin-file-'));
    file = new SqliteFile(join(folder, 'test.db'));
    file.db.exec('CREATE TABLE numbers (value INTEGER NOT NULL)');
  });
  afterEach(() => {
    file.close();
    rmSync(folder, { recursive: true });
  });

  test("runs grouped work of a commit in one call and returns each caller's value", async () => {
    const calls: number[][] = [];
    const double = file.batched((values: readonly number[]) => {
      calls.push([...values]);
      return values.map((value) => value * 2);
    });
    const other = file.write(() => 'other work');
    expect(await Promise.all([double(1), double(2), other, double(3)])).toEqual([2, 4, 'other work', 6]);
    expect(calls).toEqual([[1, 2, 3]]);
  });

  test('fails only work that throws, and writes the rest once', async () => {
    const add = file.batched((values: readonly number[]) =>
      values.map((value) => {
        if (value < 0) failing();
        insert(value);
        return value;
      }),
    );
    const outcomes = await Promise.allSettled([
      add(1),
      file.write(failing),
      add(-1),
      add(2),
      file.write(() => insert(3)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(stored()).toEqual([1, 2, 3]);
  });

  test('rejects a write after 100,000 queued ones as retryable, and runs the others', async () => {
    const count = file.batched((values: readonly number[]) => values.map(() => 'counted'));
    const waiting = Array.from({ length: 100_000 }, (_, index) => count(index));
    await expect(file.write(() => insert(1))).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['counted']));
    await file.write(() => insert(2));
    expect(stored()).toEqual([2]);
  });

  test('runs after-commit work after the commit, and not after a rollback', async () => {
    const done: string[] = [];
    const write = (name: string, work: () => void) =>
      file.write(() => {
        file.afterCommit(() => done.push(`${name}, in a transaction: ${file.db.isTransaction}`));
        work();
      });
    await Promise.allSettled([write('kept', () => insert(1)), write('failed', failing)]);
    expect(done).toEqual(['kept, in a transaction: false']);
  });

  test('includes at most four bulk operations per commit, and all interactive writes', async () => {
    const commits: string[][] = [[]];
    file.onEachCommit(() => void commits.push([]));
    const work = (name: string) => () => void commits.at(-1)!.push(name);
    const first = file.writeBulk(work('1')).then(() => file.write(work('meanwhile')));
    const others = ['2', '3', '4', '5', '6'].map((name) => file.writeBulk(work(name)));
    await Promise.all([first, ...others, file.write(work('a publish')), file.write(work('another'))]);
    expect(commits.slice(0, -1)).toEqual([
      ['a publish', 'another', '1', '2', '3', '4'],
      ['meanwhile', '5', '6'],
    ]);
  });

  test('fails only a bulk operation that throws', async () => {
    const outcomes = await Promise.allSettled([
      file.writeBulk(failing),
      file.write(() => insert(1)),
      file.writeBulk(() => insert(2)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(stored()).toEqual([1, 2]);
  });

  test('runs all queued work on close', async () => {
    const waiting = [1, 2, 3].map((value) => file.writeBulk(() => insert(value)));
    file.close();
    await Promise.all(waiting);
    file = new SqliteFile(join(folder, 'test.db'));
    expect(stored()).toEqual([1, 2, 3]);
  });
});
