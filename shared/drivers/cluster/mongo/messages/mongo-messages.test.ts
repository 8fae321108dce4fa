import { expect, test } from '@jest/globals';
import { allMessagesOf, type MessageFilter } from '../../../../domain/messages/message-filter.ts';
import { openLogger } from '../../../../platform/logger.ts';
import { messagesContract } from '../../../../contracts/messages/messages.contract.ts';
import { newId, published, testMessage, testTime } from '../../../../contracts/messages/messages.fixtures.ts';
import { describeWithEngines } from '../../../../testing/describe-with-engines.ts';
import { openMongoMessages } from './mongo-messages.ts';
import { mongoTestDatabase } from '../mongo-test-database.fixtures.ts';

const urlOf = (relative: string) => JSON.stringify(new URL(relative, import.meta.url).href);
const log = openLogger('test', 'silent');
const textIn = (topicId: string, text: string): MessageFilter => allMessagesOf([topicId], { now: testTime, text });

describeWithEngines('on MongoDB', ({ mongoUrl }) => {
  messagesContract('MongoDB', async () => {
    const database = mongoTestDatabase(mongoUrl, 'messages');
    return {
      open: async (clock = Date.now) => openMongoMessages({ connection: await database.connect(), clock, log }),
      childCode: `
        const { openLogger } = await import(${urlOf('../../../../platform/logger.ts')});
        const { openMongo } = await import(${urlOf('../mongo-connection.ts')});
        const { openMongoMessages } = await import(${urlOf('./mongo-messages.ts')});
        const log = openLogger('test', 'silent');
        const connection = await openMongo(${JSON.stringify(database.url)}, { log });
        const messages = await openMongoMessages({ connection, clock: Date.now, log });`,
      close: () => database.drop(),
    };
  });

  test('ends a search at its time limit with a remedy', async () => {
    const database = mongoTestDatabase(mongoUrl, 'search_limit');
    try {
      const messages = await openMongoMessages({
        connection: await database.connect(),
        clock: () => testTime,
        log,
        searchMsMax: 1,
      });
      const topicId = newId();
      await messages.apply(Array.from({ length: 10_000 }, (_, offset) => published(offset, testMessage(topicId))));
      await expect(messages.search(textIn(topicId, 'nowhere'), { limit: 5, offset: 0 })).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining('limit it to one topic or to a shorter time range'),
      });
      expect(await messages.newest(topicId, { limit: 1, now: testTime })).toHaveLength(1);
    } finally {
      await database.drop();
    }
  });

  test('returns consistent pages of a text search for widely spread offsets', async () => {
    const database = mongoTestDatabase(mongoUrl, 'search_parts');
    try {
      const messages = await openMongoMessages({ connection: await database.connect(), clock: () => testTime, log });
      const topicId = newId();
      const stored = [0, 1, 9_999, 10_000, 10_001, 19_999, 20_000].map((offset) =>
        published(offset, testMessage(topicId, { message: `pump ${offset}` })),
      );
      await messages.apply([
        ...stored,
        published(10_002, testMessage(topicId, { message: 'valve' })),
        published(10_003, testMessage(newId(), { message: 'pump' })),
      ]);
      const newestFirst = ['pump 20000', 'pump 19999', 'pump 10001', 'pump 10000', 'pump 9999', 'pump 1', 'pump 0'];
      for (const limit of [1, 2, 3, 7]) {
        const pages = [];
        for (let offset = 0; offset < newestFirst.length + limit; offset += limit) {
          const found = await messages.search(textIn(topicId, 'PUMP'), { limit, offset });
          expect(found.total).toBe(newestFirst.length);
          pages.push(...found.messages.map(({ message }) => message));
        }
        expect(pages).toEqual(newestFirst);
      }
    } finally {
      await database.drop();
    }
  });

  test('reads held expired messages once, not per batch', async () => {
    const database = mongoTestDatabase(mongoUrl, 'held');
    try {
      const connection = await database.connect();
      const messages = await openMongoMessages({ connection, clock: () => testTime, log });
      const [held, free] = [newId(), newId()];
      const remove = async (limit: number, except: string[]) =>
        [...(await messages.removeExpired(testTime + 1_000, limit, except))].map(([topicId, { messages: count }]) => [
          topicId,
          count,
        ]);
      await messages.apply(
        Array.from({ length: 230 }, (_, n) =>
          published(n, testMessage(n < 200 ? held : free, { expiresAt: testTime + 1 + n })),
        ),
      );
      await connection.db!.command({ profile: 2 });
      for (let batch = 0; batch < 3; batch++) expect(await remove(10, [held])).toEqual([[free, 10]]);
      const finds = await connection
        .db!.collection('system.profile')
        .find({ op: 'query', 'command.find': 'messages' })
        .sort({ ts: 1 })
        .toArray();
      expect(finds.map((find) => find['keysExamined'] >= 200)).toEqual([true, false, false]);
      // Includes messages written since and messages no longer under legal hold.
      await messages.apply([published(230, testMessage(free, { expiresAt: testTime + 1 }))]);
      expect(await remove(10, [held])).toEqual([[free, 1]]);
      expect(await remove(300, [])).toEqual([[held, 200]]);
    } finally {
      await database.drop();
    }
  });

  test('corrects a wrong count', async () => {
    const database = mongoTestDatabase(mongoUrl, 'recount');
    try {
      const connection = await database.connect();
      const messages = await openMongoMessages({ connection, clock: () => testTime, log });
      const topicId = newId();
      const fanOut = await openMongoMessages({ connection, clock: () => testTime, log });
      await fanOut.reconcile(0, [published(0, testMessage(topicId)), published(1, testMessage(topicId))]);
      await fanOut.moveWatermark(0, 1);
      await fanOut.close(); // moves the checkpoint
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
