import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import { collections } from '../../collections/collections.ts';
import { openLogger } from '../../platform/logger.ts';
import { openEmbeddedDocuments } from './open-embedded.ts';
import { schemaVersionOf } from './sqlite/migrations.ts';

/** The fields of all collections. After a change, append an empty migration and enter the new digest. */
const digestOfVersion: Readonly<Record<number, string>> = { 12: '496898ef0f48c140' };

test('a change of the collections has a schema version, so that older versions refuse the file', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tocsin-schema-'));
  const log = openLogger('test', 'silent');
  const { close } = await openEmbeddedDocuments({ dataDir: dir, collections, clock: Date.now, log });
  const db = new DatabaseSync(join(dir, 'tocsin.db'), { readOnly: true });
  const version = schemaVersionOf(db);
  db.close();
  await close();
  rmSync(dir, { recursive: true });
  const fields = collections.map(({ name, fields: of }) => `${name} ${JSON.stringify(of)}`);
  expect({ [version]: createHash('sha256').update(fields.join()).digest('hex').slice(0, 16) }).toEqual(digestOfVersion);
});
