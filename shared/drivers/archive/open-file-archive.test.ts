import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { archiveStoreContract } from '../../contracts/archive-store/archive-store.contract.ts';
import { openFileArchive } from './open-file-archive.ts';

const newDir = (): string => mkdtempSync(join(tmpdir(), 'tocsin-archive-'));

archiveStoreContract('files', async () => {
  const dir = newDir();
  return { store: openFileArchive(join(dir, 'archive')), remove: async () => rmSync(dir, { recursive: true }) };
});

describe('an archive of files', () => {
  let dir: string;
  beforeEach(() => {
    dir = newDir();
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const bodyOf = (text: string) => Readable.from([Buffer.from(text)]);

  test('is readable by its owner only', async () => {
    await openFileArchive(join(dir, 'archive')).put('topics/a', bodyOf('text'));
    const modeOf = (path: string) => (statSync(join(dir, path)).mode & 0o777).toString(8);
    expect(['archive', 'archive/topics', 'archive/topics/a'].map(modeOf)).toEqual(['700', '700', '600']);
  });

  test('does not list unfinished files, and removes those of a crash a day later', async () => {
    const store = openFileArchive(dir);
    const [recent, abandoned] = ['.recent.partial', '.abandoned.partial'].map((name) => join(dir, name)) as [
      string,
      string,
    ];
    for (const file of [recent, abandoned]) writeFileSync(file, 'half');
    const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400;
    utimesSync(abandoned, twoDaysAgo, twoDaysAgo);
    for await (const key of store.list('')) throw new Error(`${key} is listed`);
    expect([existsSync(recent), existsSync(abandoned)]).toEqual([true, false]);
  });

  test('is unavailable if its directory cannot be written', async () => {
    writeFileSync(join(dir, 'file'), '');
    const store = openFileArchive(join(dir, 'file'));
    await expect(store.put('topics/a', bodyOf('text'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(readdirSync(dir)).toEqual(['file']);
  });
});
