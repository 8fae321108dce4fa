import { expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';
import { deleted, newId, published, testMessage, testTime } from '../../../../contracts/messages/messages.fixtures.ts';
import type { PlacedRecord } from '../../../../domain/messages/log-record.ts';
import { openLogger } from '../../../../platform/logger.ts';
import { describeWithEngines } from '../../../../testing/describe-with-engines.ts';
import { mongoTestDatabase } from '../mongo-test-database.fixtures.ts';
import { mongoCheckpoints } from './mongo-checkpoints.ts';
import { prepareMessageCollections, type TopicStatsDocument } from './mongo-message-collections.ts';
import { openMongoMessages } from './mongo-messages.ts';

const log = openLogger('test', 'silent');

describeWithEngines('message counts on MongoDB', ({ mongoUrl }) => {
  async function withStore(work: (at: { connection: Connection; open: typeof openStore }) => Promise<void>) {
    const database = mongoTestDatabase(mongoUrl, 'checkpoints');
    try {
      await work({ connection: await database.connect(), open: openStore });
    } finally {
      await database.drop();
    }
  }
  const openStore = (connection: Connection) => openMongoMessages({ connection, clock: () => testTime, log });
  const checkpointOf = (connection: Connection, topicId: string) =>
    connection.db!.collection('topic_stats').findOne({ topicId });

  test('a publish writes no counter, and the fan-out counts it up to the watermark', async () => {
    await withStore(async ({ connection, open }) => {
      const [api, fanOut] = [await open(connection), await open(connection)];
      const topicId = newId();
      const records = [0, 1, 2, 3].map((offset) => published(offset, testMessage(topicId)));
      const countOf = async () => (await api.topicStats([topicId])).get(topicId)!.messageCount;
      await api.apply(records);
      expect(await checkpointOf(connection, topicId)).toBeNull();
      expect(await countOf()).toBe(4);
      await fanOut.reconcile(0, records.slice(0, 3));
      await fanOut.moveWatermark(0, 2);
      await fanOut.close(); // moves the checkpoint
      expect(await checkpointOf(connection, topicId)).toMatchObject({ messageCount: 3, countedTo: 2, lastOffset: 2 });
      expect(await countOf()).toBe(4);
      // One message on each side of the checkpoint.
      await api.apply([deleted(4, records[1]!.record.message), deleted(5, records[3]!.record.message)]);
      expect(await countOf()).toBe(2);
      expect(await api.recount(topicId)).toBe(0);
      expect((await api.lastOffsets([topicId])).get(topicId)).toBe(5);
    });
  });

  test('a deletion between reading and moving a checkpoint is counted once', async () => {
    await withStore(async ({ connection, open }) => {
      const store = await open(connection);
      const topicId = newId();
      const records = [0, 1, 2, 3].map((offset) => published(offset, testMessage(topicId)));
      await store.apply(records);
      const collections = await prepareMessageCollections(connection);
      const stats = Object.create(collections.stats) as typeof collections.stats;
      let meanwhile: PlacedRecord | undefined;
      stats.bulkWrite = async (...call) => {
        if (meanwhile !== undefined) await store.apply([meanwhile]);
        meanwhile = undefined;
        return collections.stats.bulkWrite(...call);
      };
      const checkpoints = mongoCheckpoints({ ...collections, stats }, () => undefined);
      // The first move finds no checkpoint, the second one a checkpoint below the deleted message.
      for (const [upTo, inCheckpoint, inTopic] of [
        [1, 1, 3],
        [3, 2, 2],
      ] as const) {
        meanwhile = deleted(10 + upTo, records[upTo]!.record.message);
        checkpoints.add(topicId, upTo);
        await checkpoints.flush();
        await checkpoints.flush(); // repeats the move
        expect(await checkpointOf(connection, topicId)).toMatchObject({ messageCount: inCheckpoint, countedTo: upTo });
        expect((await store.topicStats([topicId])).get(topicId)!.messageCount).toBe(inTopic);
      }
      await checkpoints.close();
      expect(await store.recount(topicId)).toBe(0);
    });
  });

  test('counts stay exact while messages are published, deleted and removed during moves of the checkpoints', async () => {
    await withStore(async ({ connection, open }) => {
      const store = await open(connection);
      const topicIds = [newId(), newId(), newId()];
      const records = Array.from({ length: 300 }, (_, offset) =>
        published(offset, testMessage(topicIds[offset % 3]!, { expiresAt: testTime + (offset % 7 === 0 ? 1 : 9_000) })),
      );
      const collections = await prepareMessageCollections(connection);
      const losses: unknown[] = [];
      const checkpoints = mongoCheckpoints(collections, (error) => losses.push(error));
      let isDone = false;
      let upTo = -1;
      const move = async () => {
        while (!isDone) {
          for (const topicId of topicIds) checkpoints.add(topicId, upTo);
          await checkpoints.flush();
        }
      };
      const change = async () => {
        for (let at = 0; at < records.length; at += 10) {
          const batch = records.slice(at, at + 10);
          await store.apply(batch);
          upTo = at + 9;
          const deletions = batch.filter(({ offset }) => offset % 3 === 1).map(({ record }) => record.message);
          await Promise.all([
            ...deletions.map((message, index) => store.apply([deleted(1_000 + at + index, message)])),
            store.removeExpired(testTime + 1, 2),
          ]);
        }
        isDone = true;
      };
      await Promise.all([move(), move(), change()]);
      await checkpoints.close();
      const counts = await store.topicStats(topicIds);
      for (const topicId of topicIds) {
        const { messageCount, countedTo } = (await checkpointOf(connection, topicId)) as unknown as {
          messageCount: number;
          countedTo: number;
        };
        expect(countedTo).toBeGreaterThan(0);
        const stored = await store.newest(topicId, { limit: 1_000, now: 0 });
        expect(counts.get(topicId)!.messageCount).toBe(stored.length);
        expect(messageCount).toBe(stored.filter(({ offset }) => offset <= countedTo).length);
        expect(await store.recount(topicId)).toBe(0);
      }
      expect(losses).toEqual([]);
    });
  });

  test('counts a message that is stored below the watermark, as the repair of history does', async () => {
    await withStore(async ({ connection, open }) => {
      const [fanOut, repair] = [await open(connection), await open(connection)];
      const topicId = newId();
      const records = [0, 1, 2].map((offset) => published(offset, testMessage(topicId)));
      await fanOut.reconcile(0, [records[0]!, records[2]!]);
      await fanOut.moveWatermark(0, 2);
      await fanOut.close();
      expect(await checkpointOf(connection, topicId)).toMatchObject({ messageCount: 2, countedTo: 2 });
      expect(await repair.reconcile(0, records)).toHaveLength(3);
      expect((await repair.topicStats([topicId])).get(topicId)!.messageCount).toBe(3);
      expect(await repair.recount(topicId)).toBe(0);
    });
  });

  test('continues the counters of an earlier version', async () => {
    await withStore(async ({ connection, open }) => {
      const store = await open(connection);
      const topicId = newId();
      const records = [0, 1, 2].map((offset) => published(offset, testMessage(topicId)));
      await store.apply(records);
      const part = { topicId, messageCount: 0, lastOffset: -1 };
      await connection.db!.collection<TopicStatsDocument>('topic_stats').insertMany([
        { _id: { topicId, part: 3 }, ...part, messageCount: 4, lastOffset: 2, lastMessageAt: testTime },
        { _id: { topicId, part: -1 }, ...part, messageCount: -1 }, // of the sweeps
      ]);
      const countOf = async () => (await store.topicStats([topicId])).get(topicId)!.messageCount;
      expect(await countOf()).toBe(3);
      const next = published(3, testMessage(topicId));
      await store.apply([next]);
      expect(await countOf()).toBe(4);
      await store.apply([deleted(4, records[0]!.record.message)]);
      expect(await countOf()).toBe(3);
      await store.reconcile(0, [next]);
      await store.moveWatermark(0, 4);
      await store.close();
      expect(await countOf()).toBe(3);
      expect(await store.recount(topicId)).toBe(0);
    });
  });
});
