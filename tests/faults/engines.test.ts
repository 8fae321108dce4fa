import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { MongoClient } from 'mongodb';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { startEngines, type Engines } from '../../tools/engines/start-engines.ts';
import { startKafka } from '../../tools/engines/start-kafka.ts';

// All crash tests rely on this: a killed engine restarts on the same URL with all acknowledged data.
describeWithOwnEngines('killed and restarted engines', () => {
  let engines: Engines;
  beforeAll(async () => {
    engines = await startEngines();
  });
  afterAll(() => engines.stop());

  test('Kafka keeps acknowledged records', async () => {
    const topic = 'kept';
    const admin = kafkaAt(engines.kafka.url).admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
    await admin.disconnect();
    await produce(engines.kafka.url, topic, 'before');
    await engines.kafka.kill();
    await engines.kafka.restart();
    await produce(engines.kafka.url, topic, 'after');
    expect(await endOffset(engines.kafka.url, topic)).toBe('2');
  });

  test('MongoDB keeps journaled documents and becomes primary again', async () => {
    const insert = async (_id: number) => {
      const client = await MongoClient.connect(engines.mongo.url);
      const documents = client.db('kept').collection<{ _id: number }>('documents');
      await documents.insertOne({ _id }, { writeConcern: { w: 'majority', j: true } });
      const count = await documents.countDocuments();
      await client.close();
      return count;
    };
    await insert(1);
    await engines.mongo.kill();
    await engines.mongo.restart();
    expect(await insert(2)).toBe(2);
  });

  test('MongoDB ends a transaction that its client left open, and the clients waiting for it continue', async () => {
    // MongoDB's default limit of a minute exceeds the timeout of this test.
    const connect = () => MongoClient.connect(engines.mongo.url, { socketTimeoutMS: 30_000, retryWrites: false });
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
    const withRedis = async <T>(use: (redis: Redis) => Promise<T>) => {
      const redis = new Redis(engines.redis.url, { maxRetriesPerRequest: 3 });
      try {
        return await use(redis);
      } finally {
        await redis.quit();
      }
    };
    await withRedis((redis) => redis.set('kept', 'before'));
    await engines.redis.kill();
    await engines.redis.restart();
    expect(await withRedis((redis) => redis.get('kept'))).toBe('before');
    expect(await withRedis((redis) => redis.config('GET', 'maxmemory-policy'))).toEqual([
      'maxmemory-policy',
      'noeviction',
    ]);
  });

  test('a cluster of three Kafka nodes continues without a killed node and accepts it again', async () => {
    const kafka = await startKafka({ nodes: 3, heapMb: 256 });
    const admin = kafkaAt(kafka.nodes[0]!.url).admin();
    const brokers = async () => (await admin.describeCluster()).brokers.length;
    try {
      await admin.connect();
      await eventually(async () => (await brokers()) === 3);
      await kafka.nodes[2]!.kill();
      await eventually(async () => (await brokers()) === 2);
      await kafka.nodes[2]!.restart();
      await eventually(async () => (await brokers()) === 3);
    } finally {
      await admin.disconnect();
      await kafka.stop();
    }
  });
});

const kafkaAt = (brokers: string) =>
  new Kafka({
    brokers: brokers.split(','),
    logLevel: logLevel.NOTHING,
    retry: { retries: 15, initialRetryTime: 100, maxRetryTime: 1_000 },
  });

const produce = async (brokers: string, topic: string, value: string) => {
  const producer = kafkaAt(brokers).producer({ idempotent: true });
  await producer.connect();
  try {
    await producer.send({ topic, acks: -1, messages: [{ value, partition: 0 }] });
  } finally {
    await producer.disconnect();
  }
};

const endOffset = async (brokers: string, topic: string) => {
  const admin = kafkaAt(brokers).admin();
  await admin.connect();
  try {
    return (await admin.fetchTopicOffsets(topic))[0]?.high;
  } finally {
    await admin.disconnect();
  }
};
