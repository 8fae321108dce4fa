import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mongo, type Connection } from 'mongoose';
import { openMongo } from '@tocsin/shared/drivers/cluster/mongo/mongo-connection.ts';
import { openMongoDocuments } from '@tocsin/shared/drivers/cluster/mongo/documents/mongo-documents.ts';
import { openMongoMessages } from '@tocsin/shared/drivers/cluster/mongo/messages/mongo-messages.ts';
import { newId, published, testMessage } from '@tocsin/shared/contracts/messages/messages.fixtures.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { write, type Documents } from '@tocsin/shared/ports/documents.ts';
import { newThing, thingCollections, things } from '@tocsin/shared/testing/thing.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import type { Engine } from '../../tools/engines/engine.ts';
import { startMongo } from '../../tools/engines/start-mongo.ts';

const log = openLogger('test', 'silent');

/** Fail points of MongoDB, which it has for driver tests. */
describeWithOwnEngines('MongoDB failover', () => {
  let engine: Engine;
  let connection: Connection;
  let documents: Documents;
  /** Runs next to the node with default settings. */
  let aside: mongo.MongoClient;

  beforeAll(async () => {
    engine = await startMongo({ args: ['--setParameter', 'enableTestCommands=1'] });
    connection = await openMongo(engine.url, { log });
    documents = await openMongoDocuments({ connection, collections: thingCollections, log });
    aside = await mongo.MongoClient.connect(engine.url, { appName: 'aside' });
  });
  afterAll(async () => {
    await aside.close();
    await connection.close();
    await engine.stop();
  });

  const setFailPoint = (configureFailPoint: string, mode: object | string, data?: object) =>
    aside.db('admin').command({ configureFailPoint, mode, ...(data === undefined ? {} : { data }) });

  test('reads acknowledged data from a new primary before it knows the majority commit', async () => {
    await documents.insert(things, newThing('a', { rank: 1 }));
    await setFailPoint('disableSnapshotting', 'alwaysOn');
    try {
      // The primary has the data but does not know the majority commit.
      await aside
        .db(connection.name)
        .collection(things.name)
        .updateOne({ _id: 'a' as never }, { $set: { rank: 2 } }, { writeConcern: { w: 1 } });
      expect(await documents.get(things, 'a')).toMatchObject({ rank: 2 });
    } finally {
      await setFailPoint('disableSnapshotting', 'off');
    }
  });

  test('does not report a watermark that a failover could revert: readers would skip records that are stored again', async () => {
    const messages = await openMongoMessages({ connection, clock: Date.now, log });
    await messages.moveWatermark(0, 5);
    await setFailPoint('disableSnapshotting', 'alwaysOn');
    try {
      await aside
        .db(connection.name)
        .collection('watermarks')
        .updateOne({ _id: 0 as never }, { $set: { offset: 9 } }, { writeConcern: { w: 1 } });
      expect(await messages.watermark(0)).toBe(5);
    } finally {
      await setFailPoint('disableSnapshotting', 'off');
    }
  });

  test('the fan-out does not pass a message that a failover could revert: nothing would store it again', async () => {
    const messages = await openMongoMessages({ connection, clock: Date.now, log });
    const now = Date.now();
    const topicId = newId();
    const newRecord = (offset: number) =>
      published(offset, testMessage(topicId, { timestamp: now - 5_000, expiresAt: now + 60_000 }));
    const [stored, record] = [newRecord(0), newRecord(1)];
    await messages.apply([stored]);
    const collection = aside.db(connection.name).collection<{ _id: string }>('messages');
    const template = (await collection.findOne({ _id: stored.record.message.id }))!;
    await setFailPoint('disableSnapshotting', 'alwaysOn');
    let isReconciled = false;
    let reconciling: Promise<unknown>;
    try {
      // The primary has the document, as of a publisher, but does not know that the majority has it.
      await collection.insertOne(
        { ...template, _id: record.record.message.id, ...{ offset: 1 } },
        { writeConcern: { w: 1 } },
      );
      reconciling = messages.reconcile(0, [record]).then(() => (isReconciled = true));
      await pause(1_000); // only waiting shows that it waits
      expect(isReconciled).toBe(false);
    } finally {
      await setFailPoint('disableSnapshotting', 'off');
    }
    // Without a write, an idle server advances its majority commit only every ten seconds.
    await aside
      .db(connection.name)
      .collection('others')
      .insertOne({}, { writeConcern: { w: 'majority' } });
    await reconciling!;
    expect(await messages.reconcile(0, [record])).toMatchObject([{ offset: 1 }]);
  });

  test('transactions, inserts of messages and reads of documents wait for an election instead of failing', async () => {
    const electing = await openMongo(engine.url.replace('directConnection=true&', ''), { log });
    try {
      const messages = await openMongoMessages({ connection: electing, clock: Date.now, log });
      const topicId = newId();
      const now = Date.now();
      let offset = 0;
      const apply = () =>
        messages.apply([published(offset++, testMessage(topicId, { timestamp: now, expiresAt: now + 60_000 }))]);
      await apply();
      const reading = await openMongoDocuments({ connection: electing, collections: thingCollections, log });
      await reading.insert(things, newThing('kept', { rank: 1 }));
      // A set of one member has no primary for this time. The command breaks the connections.
      await aside.db('admin').command({ replSetStepDown: 4, secondaryCatchUpPeriodSecs: 0, force: true });
      const beganAt = performance.now();
      const [read] = await Promise.all([
        reading.get(things, 'kept'),
        reading.commit([write.insert(things, newThing('committed', { rank: 2 }))]),
        ...Array.from({ length: 10 }, apply),
      ]);
      expect(read).toMatchObject({ rank: 1 });
      expect(await reading.get(things, 'committed')).toMatchObject({ rank: 2 });
      expect(performance.now() - beganAt).toBeGreaterThan(1_500); // the limit of other operations
      expect((await messages.topicStats([topicId])).get(topicId)!.messageCount).toBe(11);
    } finally {
      await electing.close();
    }
  });

  test.each([
    ['refused', { errorCode: 91 }],
    [
      'applied without a known majority',
      { writeConcernError: { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'waiting for replication timed out' } },
    ],
  ])('a commit that is %s four times is retried until its outcome is known and applied once', async (_, answer) => {
    await documents.insert(things, newThing('counted', { rank: 0 }));
    await setFailPoint(
      'failCommand',
      { times: 4 },
      { failCommands: ['commitTransaction'], ...answer, appName: connection.getClient().options.appName },
    );
    await documents.commit([write.increment(things, 'counted', { rank: 1 })]);
    expect(await documents.get(things, 'counted')).toMatchObject({ rank: 1 });
    await documents.remove(things, 'counted');
  });

  test.each([
    [43, 'its cursor was lost with the server'],
    [175, 'its plan was ended'],
    [237, 'its cursor was ended'],
    [290, 'its transaction took too long'],
    [365, 'the server is short of memory'],
  ])('reports MongoDB error %d (%s) as unavailable', async (errorCode) => {
    await setFailPoint(
      'failCommand',
      { times: 1 },
      { failCommands: ['find'], errorCode, appName: connection.getClient().options.appName },
    );
    await expect(documents.get(things, 'a')).rejects.toMatchObject({ code: 'unavailable' });
    await documents.get(things, 'a');
  });
});
