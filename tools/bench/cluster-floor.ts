import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { Kafka, logLevel, type EachBatchPayload } from 'kafkajs';
import { MongoClient } from 'mongodb';

// The floor of a cluster: the work that every publish needs on the engines, and nothing else. A request is appended
// with acks=all and inserted with a majority write. A consumer inserts missing messages, moves the watermark and
// publishes to Redis.
const { brokers, mongoUrl, redisUrl, run, partitions } = JSON.parse(process.argv[2]!) as {
  brokers: string;
  mongoUrl: string;
  redisUrl: string;
  run: string;
  partitions: number;
};
const topic = `floor.${run}`;
const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING });
const producer = kafka.producer({ allowAutoTopicCreation: false, retry: { retries: 5 } });
const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 500 });
const redis = new Redis(redisUrl);
const mongo = await new MongoClient(mongoUrl, { writeConcern: { w: 'majority' } }).connect();
const messages = mongo.db().collection<{ _id: string; partition: number; offset: number; body: string }>('messages');
const watermarks = mongo.db().collection<{ _id: number; offset: number }>('watermarks');
await messages.createIndex({ partition: 1, offset: 1 });

const admin = kafka.admin();
await admin.connect();
await admin.createTopics({ topics: [{ topic, numPartitions: partitions }], waitForLeaders: true });
await admin.disconnect();
await producer.connect();

interface Publish {
  readonly id: string;
  readonly partition: number;
  readonly body: string;
  readonly response: ServerResponse;
}
let waiting: Publish[] = [];
let isAppending = false;

/** Appends the requests that arrived during the last append as one batch. The inserts of batches overlap. */
async function appendAll(): Promise<void> {
  isAppending = true;
  while (waiting.length > 0) {
    const batch = waiting;
    waiting = [];
    const sent = await producer.send({
      topic,
      acks: -1,
      messages: batch.map(({ id, partition, body }) => ({ key: id, value: body, partition })),
    });
    const next = new Map(sent.map(({ partition, baseOffset }) => [partition, Number(baseOffset)]));
    void insert(
      batch.map((publish) => {
        const offset = next.get(publish.partition)!;
        next.set(publish.partition, offset + 1);
        return { ...publish, offset };
      }),
    );
  }
  isAppending = false;
}

async function insert(batch: readonly (Publish & { offset: number })[]): Promise<void> {
  const documents = batch.map(({ id, partition, offset, body }) => ({ _id: id, partition, offset, body }));
  await messages.insertMany(documents, { ordered: false }).catch(ignoreDuplicates);
  for (const { id, offset, body, response } of batch) {
    const reply = JSON.stringify({ id, offset, message: body });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(reply) });
    response.end(reply);
  }
}

function ignoreDuplicates(error: unknown): void {
  if ((error as { code?: unknown }).code !== 11_000) throw error;
}

async function fanOut({ batch }: EachBatchPayload): Promise<void> {
  const documents = batch.messages.map(({ key, value, offset }) => ({
    _id: key!.toString(),
    partition: batch.partition,
    offset: Number(offset),
    body: value!.toString(),
  }));
  const ids = documents.map(({ _id }) => _id);
  const found = await messages
    .find({ _id: { $in: ids } }, { projection: { _id: 1 }, batchSize: ids.length + 1 })
    .toArray();
  const stored = new Set(found.map(({ _id }) => _id));
  const missing = documents.filter(({ _id }) => !stored.has(_id));
  if (missing.length > 0) await messages.insertMany(missing, { ordered: false }).catch(ignoreDuplicates);
  const { _id, offset } = { _id: batch.partition, offset: Number(batch.lastOffset()) };
  await watermarks.bulkWrite([{ updateOne: { filter: { _id }, update: { $max: { offset } }, upsert: true } }]);
  const pipeline = redis.pipeline();
  for (const document of documents) pipeline.publish(`${topic}.${document.partition}`, JSON.stringify(document));
  await pipeline.exec();
}

await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
await consumer.run({ partitionsConsumedConcurrently: partitions, eachBatch: fanOut });

let count = 0;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const partition = count++ % partitions;
    waiting.push({ id: randomUUID(), partition, body: Buffer.concat(chunks).toString(), response });
    if (!isAppending) void appendAll();
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
