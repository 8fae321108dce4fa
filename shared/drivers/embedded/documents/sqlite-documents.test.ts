import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentsContract } from '../../../contracts/documents/documents.contract.ts';
import { write } from '../../../ports/documents.ts';
import { closers } from '../../../platform/lifecycle.ts';
import { lefts, newThing, thingCollections, things } from '../../../testing/thing.ts';
import { openSqliteDocuments, type SqliteDocuments } from './sqlite-documents.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

const urlOf = (relative: string) => JSON.stringify(new URL(relative, import.meta.url).href);

documentsContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-documents-'));
  const path = join(folder, 'tocsin.db');
  const own = closers();
  own.add(() => rmSync(folder, { recursive: true }));
  return {
    open: async (collections) => {
      const file = new SqliteFile(path);
      own.add(() => file.close());
      return openSqliteDocuments({ file, collections });
    },
    childCode: `
      const { SqliteFile } = await import(${urlOf('../sqlite/sqlite-file.ts')});
      const { openSqliteDocuments } = await import(${urlOf('./sqlite-documents.ts')});
      const { thingCollections } = await import(${urlOf('../../../testing/thing.ts')});
      const documents = openSqliteDocuments({ file: new SqliteFile(${JSON.stringify(path)}), collections: thingCollections });`,
    close: () => own.closeAll(),
  };
});

describe('SQLite: documents in the shared file', () => {
  let folder: string;
  let file: SqliteFile;
  let documents: SqliteDocuments;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tocsin-documents-'));
    file = new SqliteFile(join(folder, 'tocsin.db'));
    documents = openSqliteDocuments({ file, collections: thingCollections });
  });
  afterEach(() => {
    file.close();
    rmSync(folder, { recursive: true });
  });

  test('a stamp changes with every write to its collections, also by other processes, and only then', async () => {
    const otherFile = new SqliteFile(join(folder, 'tocsin.db'));
    const elsewhere = openSqliteDocuments({ file: otherFile, collections: thingCollections });
    const stamp = () => documents.changeStamp([things]);
    const seen = new Set([stamp()]);
    const expectNew = async (writing: Promise<unknown>) => {
      await writing;
      expect(seen).not.toContain(stamp());
      seen.add(stamp());
    };
    await expectNew(documents.insert(things, newThing('a', { rank: 1 })));
    await expectNew(documents.update(things, { id: 'a', version: 1 }, { rank: 2 }));
    await expectNew(documents.increment(things, 'a', { rank: 1 }));
    await expectNew(documents.commit([write.insert(things, newThing('b'))]));
    await expectNew(documents.remove(things, 'a'));
    await expectNew(elsewhere.insert(things, newThing('c')));
    const last = stamp();
    await documents.insert(lefts, { id: 'd', pairOf: 'e' });
    await documents.find(things, { index: 'byName', equals: {}, limit: 5 });
    await expect(documents.insert(things, newThing('f', { rank: 'x' as never }))).rejects.toThrow();
    expect(stamp()).toBe(last);
    expect(documents.changeStamp([lefts, things])).not.toBe(last);
    otherFile.close();
  });

  test('a rejected write does not repeat other writes of its group commit', async () => {
    await documents.insert(things, newThing('taken'));
    let runs = 0;
    const others = file.write(() => (runs += 1));
    const refused = [
      documents.insert(things, newThing('taken')),
      documents.update(things, { id: 'taken', version: 9 }, { rank: 1 }),
      documents.commit([write.increment(things, 'taken', { rank: 1 }), write.insert(things, newThing('taken'))]),
    ];
    const later = documents.insert(things, newThing('later'));
    expect((await Promise.allSettled(refused)).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      'rejected',
    ]);
    await Promise.all([others, later]);
    expect(runs).toBe(1);
    expect(await documents.get(things, 'taken')).toMatchObject({ rank: 0, version: 1 });
  });

  test('reports unavailable on a full disk, writes nothing partially, and recovers when space is free', async () => {
    const pages = Number(Object.values(file.db.prepare('PRAGMA page_count').get()!)[0]);
    file.db.exec(`PRAGMA max_page_count = ${pages + 4}`);
    const big = newThing('big', { extra: 'x'.repeat(100_000) });
    const small = documents.insert(things, newThing('small'));
    await expect(
      documents.commit([write.insert(lefts, { id: 'l', pairOf: 'l' }), write.insert(things, big)]),
    ).rejects.toMatchObject({ code: 'unavailable' });
    await small;
    expect(await documents.get(lefts, 'l')).toBeNull();
    file.db.exec('PRAGMA max_page_count = 1000000');
    expect(await documents.insert(things, big)).toMatchObject({ id: 'big' });
  });
});
