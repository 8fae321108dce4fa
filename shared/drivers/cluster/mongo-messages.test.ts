import { expect, test } from '@jest/globals';
import { openLog } from '../../platform/log.ts';
import { messagesContract } from '../../ports/messages.contract.ts';
import { newId, published, testMessage, testTime } from '../../ports/messages.fixtures.ts';
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

  test('a search that works longer than its limit ends and says what to ask for instead', async () => {
    const database = mongoTestDatabase(mongoUrl, 'search_limit');
    try {
      const messages = await openMongoMessages({ connection: await database.connect(), clock: () => testTime, log, searchMsMax: 1 });
      const topicId = newId();
      await messages.apply(Array.from({ length: 10_000 }, (_, offset) => published(offset, testMessage(topicId))));
      const filter = {
        topicIds: [topicId], text: 'nowhere', priorityMin: null, priorityMax: null, tags: [], from: null, to: null, includesDeleted: false, now: testTime,
      };
      await expect(messages.search(filter, { limit: 5, offset: 0 })).rejects.toMatchObject(
        { code: 'unavailable', message: expect.stringContaining('ask for one topic, or for a shorter span of time') });
      expect(await messages.newest(topicId, { limit: 1, now: testTime })).toHaveLength(1);
    } finally {
      await database.drop();
    }
  });

  test('a count that is wrong is set right', async () => {
    const database = mongoTestDatabase(mongoUrl, 'recount');
    try {
      const connection = await database.connect();
      const messages = await openMongoMessages({ connection, clock: () => testTime, log });
      const topicId = newId();
      await messages.apply([published(0, testMessage(topicId)), published(1, testMessage(topicId))]);
      const messageCount = async () => (await messages.topicStats([topicId])).get(topicId)!.messageCount;
      for (const by of [5, -9]) {
        await connection.db!.collection('topic_stats').updateOne({ topicId }, { $inc: { messageCount: by } });
        expect(await messages.recount(topicId)).toBe(-by);
        expect(await messageCount()).toBe(2);
      }
    } finally {
      await database.drop();
    }
  });
});
