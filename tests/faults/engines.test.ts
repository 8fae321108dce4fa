import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import type { Engine } from '../../tools/engines/engine.ts';
import { startConcurrently, stopConcurrently } from '../../tools/engines/start-concurrently.ts';
import { startMongo } from '../../tools/engines/start-mongo.ts';
import { startRedis } from '../../tools/engines/start-redis.ts';

// All crash tests rely on this: a killed engine restarts on the same URL with all acknowledged data. For Kafka, see
// kafka-event-log.test.ts and kafka-broker-loss.test.ts.
describeWithOwnEngines('killed and restarted engines', () => {
  let mongo: Engine;
  let redis: Engine;
  beforeAll(async () => {
    [mongo, redis] = await startConcurrently<[Engine, Engine]>([startMongo(), startRedis()]);
  });
  afterAll(() => stopConcurrently([mongo, redis]));

  test('MongoDB keeps journaled documents and becomes primary again', async () => {
    const insert = async (_id: number) => {
      const client = await MongoClient.connect(mongo.url);
      const documents = client.db('kept').collection<{ _id: number }>('documents');
      await documents.insertOne({ _id }, { writeConcern: { w: 'majority', j: true } });
      const count = await documents.countDocuments();
      await client.close();
      return count;
    };
    await insert(1);
    await mongo.kill();
    await mongo.restart();
    expect(await insert(2)).toBe(2);
  });

  test('MongoDB ends a transaction that its client left open, and the clients waiting for it continue', async () => {
    // MongoDB's default limit of a minute exceeds the timeout of this test.
    const connect = () => MongoClient.connect(mongo.url, { socketTimeoutMS: 30_000, retryWrites: false });
    const [lost, waiting] = await Promise.all([connect(), connect()]);
    const documents = (client: MongoClient) => client.db('locked').collection<{ _id: number; by: string }>('documents');
    try {
      await documents(waiting).insertOne({ _id: 1, by: 'nobody' });
      const session = lost.startSession();
      session.startTransaction();
      await documents(lost).updateOne({ _id: 1 }, { $set: { by: 'lost' } }, { session });
      await documents(waiting).updateOne({ _id: 1 }, { $set: { by: 'waiting' } });
      await expect(session.commitTransaction()).rejects.toMatchObject({ codeName: 'NoSuchTransaction' });
      expect(await documents(waiting).findOne({ _id: 1 })).toEqual({ _id: 1, by: 'waiting' });
    } finally {
      await Promise.all([lost.close(), waiting.close()]);
    }
  });

  test('Redis reads its append-only file and evicts nothing', async () => {
    const withClient = async <T>(use: (client: Redis) => Promise<T>) => {
      const client = new Redis(redis.url, { maxRetriesPerRequest: 3 });
      try {
        return await use(client);
      } finally {
        await client.quit();
      }
    };
    await withClient((client) => client.set('kept', 'before'));
    await redis.kill();
    await redis.restart();
    expect(await withClient((client) => client.get('kept'))).toBe('before');
    expect(await withClient((client) => client.config('GET', 'maxmemory-policy'))).toEqual([
      'maxmemory-policy',
      'noeviction',
    ]);
  });
});
