import { openLog } from '../../platform/log.ts';
import { messagesContract } from '../../ports/messages.contract.ts';
import { describeWithEngines } from '../../testing/describe-with-engines.ts';
import { openMongoMessages } from './mongo-messages.ts';
import { mongoTestDatabase } from './mongo-test-database.fixture.ts';

const urlOf = (relative: string) => JSON.stringify(new URL(relative, import.meta.url).href);
const log = openLog('test', 'silent');

describeWithEngines('on MongoDB', ({ mongoUrl }) => {
  messagesContract('MongoDB', async () => {
    const database = mongoTestDatabase(mongoUrl, 'messages');
    return {
      open: async (clock = Date.now) => openMongoMessages({ connection: await database.connect(), clock, log }),
      childCode: `
        const { openLog } = await import(${urlOf('../../platform/log.ts')});
        const { openMongo } = await import(${urlOf('./mongo-connection.ts')});
        const { openMongoMessages } = await import(${urlOf('./mongo-messages.ts')});
        const log = openLog('test', 'silent');
        const connection = await openMongo(${JSON.stringify(database.url)}, { log });
        const messages = await openMongoMessages({ connection, clock: Date.now, log });`,
      close: () => database.drop(),
    };
  });
});
