import { expect, test } from '@jest/globals';
import { openLogger } from '../../../../platform/logger.ts';
import { documentsContract } from '../../../../contracts/documents/documents.contract.ts';
import type { AnyCollection } from '../../../../ports/document-checks.ts';
import type { Collection, Document } from '../../../../ports/documents.ts';
import { describeWithEngines } from '../../../../testing/describe-with-engines.ts';
import { openMongoDocuments } from './mongo-documents.ts';
import { mongoTestDatabase } from '../mongo-test-database.fixtures.ts';

const urlOf = (relative: string) => JSON.stringify(new URL(relative, import.meta.url).href);
const log = openLogger('test', 'silent');

describeWithEngines('on MongoDB', ({ mongoUrl }) => {
  documentsContract('MongoDB', async () => {
    const database = mongoTestDatabase(mongoUrl, 'documents');
    return {
      open: async (collections) => openMongoDocuments({ connection: await database.connect(), collections, log }),
      childCode: `
        const { openLogger } = await import(${urlOf('../../../../platform/logger.ts')});
        const { openMongo } = await import(${urlOf('../mongo-connection.ts')});
        const { openMongoDocuments } = await import(${urlOf('./mongo-documents.ts')});
        const { thingCollections } = await import(${urlOf('../../../../testing/thing.ts')});
        const log = openLogger('test', 'silent');
        const connection = await openMongo(${JSON.stringify(database.url)}, { log });
        const documents = await openMongoDocuments({ connection, collections: thingCollections, log });`,
      close: () => database.drop(),
    };
  });

  test('nodes of two versions use a collection, and a start of the older one removes nothing', async () => {
    const database = mongoTestDatabase(mongoUrl, 'versions');
    try {
      const open = async (collection: Collection<Note>) =>
        openMongoDocuments({
          connection: await database.connect(),
          collections: [collection as unknown as AnyCollection],
          log,
        });
      const before = await open(oldNotes);
      const after = await open(newNotes);
      const restarted = await open(oldNotes);
      await before.insert(oldNotes, { id: 'a', text: 'old' });
      const note = await after.insert(newNotes, { id: 'b', text: 'new', color: 'red' });
      await restarted.update(oldNotes, note, { text: 'changed' });
      expect(await after.find(newNotes, { index: 'byColor', equals: { color: 'red' }, limit: 9 })).toMatchObject([
        { id: 'b', text: 'changed', color: 'red' },
      ]);
      expect(await after.get(newNotes, 'a')).toMatchObject({ text: 'old', color: null });
      await expect(after.insert(newNotes, { id: 'c', text: 'new', color: 'red' })).rejects.toMatchObject({
        key: 'color',
      });
      expect(await before.find(oldNotes, { index: 'byText', equals: {}, limit: 9 })).toHaveLength(2);
    } finally {
      await database.drop();
    }
  });
});

interface Note extends Document {
  readonly text: string;
  readonly color?: string | null;
}

const oldNotes: Collection<Note> = {
  name: 'notes',
  fields: { text: 'text' } as Collection<Note>['fields'],
  uniqueKeys: {},
  indexes: { byText: ['text'] },
};
const newNotes: Collection<Note> = {
  name: 'notes',
  fields: { text: 'text', color: 'text' },
  uniqueKeys: { color: ['color'] },
  indexes: { byText: ['text'], byColor: ['color', 'text'] },
};
