import type { AnyCollection } from '../../ports/document-checks.ts';
import { deliveriesContract } from '../../ports/deliveries.contract.ts';
import { openLog } from '../../platform/log.ts';
import { devices } from '../../stores/devices-collection.ts';
import { subscriptions } from '../../stores/subscriptions-collection.ts';
import { describeWithEngines } from '../../testing/describe-with-engines.ts';
import { openMongoDeliveries } from './mongo-deliveries.ts';
import { openMongoDocuments } from './mongo-documents.ts';
import { mongoTestDatabase } from './mongo-test-database.fixture.ts';

const urlOf = (relative: string) => JSON.stringify(new URL(relative, import.meta.url).href);
const collections: readonly AnyCollection[] = [subscriptions, devices];

describeWithEngines('on MongoDB', ({ mongoUrl }) => {
  deliveriesContract('MongoDB', async () => {
    const database = mongoTestDatabase(mongoUrl, 'deliveries');
    return {
      open: async () => {
        const connection = await database.connect();
        const documents = await openMongoDocuments({ connection, collections, log: openLog('test', 'silent') });
        return { documents, deliveries: await openMongoDeliveries({ connection, subscriptions, devices }) };
      },
      childCode: `
        const { openLog } = await import(${urlOf('../../platform/log.ts')});
        const { openMongo } = await import(${urlOf('./mongo-connection.ts')});
        const { openMongoDeliveries } = await import(${urlOf('./mongo-deliveries.ts')});
        const { subscriptions } = await import(${urlOf('../../stores/subscriptions-collection.ts')});
        const { devices } = await import(${urlOf('../../stores/devices-collection.ts')});
        const connection = await openMongo(${JSON.stringify(database.url)}, { log: openLog('test', 'silent') });
        const deliveries = await openMongoDeliveries({ connection, subscriptions, devices });`,
      close: () => database.drop(),
    };
  });
});
