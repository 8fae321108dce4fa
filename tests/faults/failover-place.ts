import { randomBytes, randomUUID } from 'node:crypto';
import { findTopicByName } from '@tocsin/shared/collections/topics.ts';
import type { Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { startExpoSimulator, type ExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { freePorts } from '../../tools/engines/free-ports.ts';
import { startKafka, type KafkaEngine } from '../../tools/engines/start-kafka.ts';
import { startClusterStack, type Stack } from '../../tools/stack/start-stack.ts';
import { createAccount, createTopic, made, openStackDocuments, type Account } from '../support/stack.ts';
import { startMongoSet, type MongoSet } from './start-mongo-set.ts';
import { startRedisPair, type RedisPair } from './start-redis-pair.ts';

/** An installation on replicated engines. */
export interface FailoverPlace {
  readonly kafka: KafkaEngine;
  readonly mongo: MongoSet;
  readonly redis: RedisPair;
  readonly stack: Stack;
  readonly account: Account;
  /** Topics with a subscriber who receives pushes, one on each partition, by partition. */
  readonly topics: readonly string[];
  readonly expo: ExpoSimulator;
  /** The addresses of the services that serve health, by service. */
  readonly healthUrls: Readonly<Record<string, string>>;
}

const partitions = 6;
const workers = ['fanout', 'notifier', 'retention'];

/** How soon MongoDB and Kafka replace a lost member; by default after 10 and 9 s. */
const soon = { mongo: { electionTimeoutMillis: 2_000 }, kafka: { 'broker.session.timeout.ms': '4000' } } as const;

/** Starts the installation, with the engines' default election times on request. `own` stops it. */
export async function startFailoverPlace(own: Closers, isDefault: boolean): Promise<FailoverPlace> {
  const [kafka, mongo, redis, expo, ports] = await Promise.all([
    startKafka({ nodes: 3, heapMb: 256, properties: isDefault ? {} : soon.kafka }),
    startMongoSet(own, isDefault ? {} : soon.mongo),
    startRedisPair(own),
    startExpoSimulator(),
    freePorts(workers.length),
  ]);
  own.add(() => kafka.stop());
  own.add(() => expo.close());
  const dir = process.env['TOCSIN_FAULTS_DIR']; // shows where the servers' logs are
  const stack = await startClusterStack({
    ...(dir === undefined ? {} : { dir }),
    kafkaBrokers: kafka.url,
    mongoUrl: mongo.url('tocsin'),
    redisUrl: redis.url,
    jwtSecret: randomBytes(32).toString('hex'),
    apiNodes: 1,
    serviceEnv: Object.fromEntries(workers.map((name, index) => [name, { METRICS_PORT: String(ports[index]) }])),
    env: {
      RATE_LIMITS: 'off',
      KAFKA_PARTITIONS: String(partitions),
      KAFKA_REPLICATION: '3',
      LOG_LEVEL: 'info',
      EXPO_URL: expo.url,
    },
  });
  own.add(() => stack.stop());
  const { account, topics } = await fill(stack);
  const healthUrls = Object.fromEntries(workers.map((name, index) => [name, `http://127.0.0.1:${ports[index]}`]));
  return { kafka, mongo, redis, stack, account, topics, expo, healthUrls: { ...healthUrls, api: stack.urls[0]! } };
}

async function fill(stack: Stack): Promise<Pick<FailoverPlace, 'account' | 'topics'>> {
  const store = await openStackDocuments(stack);
  try {
    const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
    await made(
      account.client.call('POST', '/api/devices/register', {
        json: { push_token: newPushToken.expo(), platform: 'expo', device_id: randomUUID() },
      }),
    );
    const byPartition = new Map<number, string>();
    while (byPartition.size < partitions) {
      const { name } = await createTopic(account);
      const { partition } = (await findTopicByName(store.documents, name))!;
      if (byPartition.has(partition)) continue;
      await made(account.client.call('POST', '/api/subscriptions', { json: { topic_name: name } }));
      byPartition.set(partition, name);
    }
    return { account, topics: Array.from({ length: partitions }, (_, partition) => byPartition.get(partition)!) };
  } finally {
    await store.close();
  }
}
