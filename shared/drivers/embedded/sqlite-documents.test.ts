import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentsContract } from '../../ports/documents.contract.ts';
import { closers } from '../../platform/lifecycle.ts';
import { openSqliteDocuments } from './sqlite-documents.ts';
import { SqliteFile } from './sqlite-file.ts';

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
      return openSqliteDocuments({ file, collections: collections });
    },
    childCode: `
      const { SqliteFile } = await import(${urlOf('./sqlite-file.ts')});
      const { openSqliteDocuments } = await import(${urlOf('./sqlite-documents.ts')});
      const { thingCollections } = await import(${urlOf('../../testing/thing.ts')});
      const documents = openSqliteDocuments({ file: new SqliteFile(${JSON.stringify(path)}), collections: thingCollections });`,
    close: () => own.closeAll(),
  };
});
