import { openLogger } from '../../../../platform/logger.ts';
import { documentsContract } from '../../../../contracts/documents/documents.contract.ts';
import { describeWithEngines } from '../../../../testing/describe-with-engines.ts';
import { openMongoDocuments } from './mongo-documents.ts';
import { mongoTestDatabase } from '../mongo-test-database.fixture.ts';

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
});
