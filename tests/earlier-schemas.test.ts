import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { collections } from '@tocsin/shared/collections/collections.ts';
import type { Collection, Document } from '@tocsin/shared/ports/documents.ts';

type Declared = Pick<Collection<Document>, 'fields' | 'uniqueKeys' | 'indexes'>;

const fixtures = join(import.meta.dirname, 'fixtures');

// Nodes of both versions run during an upgrade.
test.each(readdirSync(fixtures).filter((name) => name.startsWith('store-')))(
  'the collections still have every field, unique key and index of a %s',
  (name) => {
    const before = JSON.parse(readFileSync(join(fixtures, name, 'schema.json'), 'utf8')) as Record<string, Declared>;
    const now = Object.fromEntries(collections.map((collection) => [collection.name, collection]));
    expect(Object.keys(before).length).toBeGreaterThan(0);
    expect(now).toMatchObject(before);
  },
);
