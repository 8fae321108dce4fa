import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openLogger } from '../../../platform/logger.ts';
import { published, testMessage } from '../../../contracts/messages/messages.fixtures.ts';
import { newId } from '../../../testing/builders.ts';
import { copyStore } from './copy-store.ts';
import { continueLogAfterCopy } from './log-after-copy.ts';
import { migrate } from '../sqlite/migrations.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { messageMigrations } from '../messages/sqlite-message-schema.ts';
import { openSqliteMessages } from '../messages/sqlite-messages.ts';

const log = openLogger('test', 'silent');

describe('a copy of a store', () => {
  let folder: string;
  let file: SqliteFile;
  const at = (name: string) => join(folder, name);
  const copy = (to: string, onProgress = (_: { done: number; total: number }) => {}) =>
    copyStore({ from: at('tocsin.db'), to, schemaVersionMax: messageMigrations.length, onProgress });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tocsin-copy-'));
    file = new SqliteFile(at('tocsin.db'));
    migrate(file, messageMigrations);
  });
  afterEach(() => {
    file.close();
    rmSync(folder, { recursive: true });
  });

  test('is a consistent snapshot, while another connection commits at every step', async () => {
    file.db.exec('CREATE TABLE numbers (value INTEGER NOT NULL, filling BLOB)');
    const add = file.db.prepare('INSERT INTO numbers VALUES (?, zeroblob(4194304))');
    for (let value = 0; value < 6; value += 1) add.run(value);
    const progress: number[] = [];
    const report = await copy(at('copy.db'), ({ done }) => {
      progress.push(done);
      // A copy that restarts at every commit would not end before that.
      if (progress.length < 100) add.run(6 + progress.length);
    });
    expect(progress.length).toBeLessThan(10);
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    const db = new DatabaseSync(at('copy.db'), { readOnly: true });
    expect(
      db
        .prepare('SELECT value FROM numbers ORDER BY value')
        .all()
        .map((row) => row['value']),
    ).toEqual([0, 1, 2, 3, 4, 5]);
    db.close();
    expect(report).toEqual({ from: at('tocsin.db'), to: at('copy.db'), bytes: statSync(at('copy.db')).size });
    expect(statSync(at('copy.db')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).sort()).toEqual(['copy.db', 'tocsin.db', 'tocsin.db-shm', 'tocsin.db-wal']);
  });

  test.each(['copy.db', 'copy.db-wal'])('does not overwrite %s', async (taken) => {
    writeFileSync(at(taken), 'mine');
    await expect(copy(at('copy.db'))).rejects.toThrow(`${at(taken)} already exists: move it, or choose another path`);
    expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([taken]);
  });

  test('rejects an invalid store with a reason and leaves no file', async () => {
    const of = (from: string, options: { schemaVersionMax?: number } = {}) =>
      copyStore({ from: at(from), to: at('copy.db'), onProgress: () => {}, ...options });
    await expect(of('none.db')).rejects.toThrow(`${at('none.db')} does not exist: there is nothing to copy`);
    writeFileSync(at('text.db'), 'no database'.repeat(100));
    await expect(of('text.db')).rejects.toThrow(`${at('text.db')} is not a Tocsin store: file is not a database`);
    new DatabaseSync(at('other.db')).exec('CREATE TABLE t (a); PRAGMA user_version = 3');
    await expect(of('other.db')).rejects.toThrow('is not a Tocsin store: it has no log');
    await expect(of('tocsin.db', { schemaVersionMax: 1 })).rejects.toThrow(
      'this version supports 1: use a newer version of Tocsin',
    );
    await expect(copy('/nonexistent/copy.db')).rejects.toThrow(
      '/nonexistent cannot be written (ENOENT): choose another path',
    );

    // A table with an overwritten first page.
    file.db.exec(
      'CREATE TABLE numbers (value INTEGER NOT NULL); INSERT INTO numbers VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)',
    );
    const { rootpage } = file.db.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'numbers'`).get() as {
      rootpage: number;
    };
    file.close();
    const handle = openSync(at('tocsin.db'), 'r+');
    writeSync(handle, Buffer.alloc(200, 7), 0, 200, (rootpage - 1) * 4_096);
    closeSync(handle);
    await expect(copy(at('copy.db'))).rejects.toThrow('the copy is damaged, and its source may be too: ');
    expect(existsSync(at('copy.db'))).toBe(false);
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  describe('continues', () => {
    const opened = (path: string, now: number) => {
      const copied = new SqliteFile(path);
      try {
        continueLogAfterCopy(copied.db, { clock: () => now, log });
        const messages = openSqliteMessages({ file: copied, clock: () => now });
        return messages.end();
      } finally {
        copied.close();
      }
    };
    const timestamp = Date.now();

    beforeEach(async () => {
      const messages = openSqliteMessages({ file, clock: Date.now });
      await messages.apply([published(41, testMessage(newId(), { timestamp, expiresAt: timestamp + 60_000 }))]);
      await messages.close();
      await copy(at('copy.db'));
    });

    test('continues once above all offsets that its original can have assigned, and the original does not change', () => {
      expect(opened(at('copy.db'), timestamp + 5)).toBe((timestamp + 5) * 1_000);
      expect(opened(at('copy.db'), timestamp + 9)).toBe((timestamp + 5) * 1_000);
      expect(opened(at('tocsin.db'), timestamp + 9)).toBe(42);
    });

    test('refuses a clock earlier than its newest message', () => {
      expect(() => opened(at('copy.db'), timestamp - 1)).toThrow('correct the clock first');
      expect(opened(at('copy.db'), timestamp)).toBe(timestamp * 1_000);
    });
  });
});
