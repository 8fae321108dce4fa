import type { Engine } from './engine.ts';
import { startKafka, type KafkaEngine, type KafkaOptions } from './start-kafka.ts';
import { startMongo } from './start-mongo.ts';
import { startRedis } from './start-redis.ts';
import { startConcurrently, stopConcurrently } from './start-concurrently.ts';

export type Engines = { kafka: KafkaEngine; mongo: Engine; redis: Engine; stop(): Promise<void> };

export type EnginesOptions = Pick<KafkaOptions, 'report' | 'outlives' | 'isForLong'> & {
  kafkaPort?: number;
  mongoPort?: number;
  redisPort?: number;
};

/** Starts Kafka, MongoDB and Redis concurrently. If one fails, stops the others and throws. */
export const startEngines = async ({
  kafkaPort,
  mongoPort,
  redisPort,
  ...options
}: EnginesOptions = {}): Promise<Engines> => {
  const at = (port: number | undefined) => ({ ...options, ...(port !== undefined && { port }) });
  const [kafka, mongo, redis] = await startConcurrently<[KafkaEngine, Engine, Engine]>([
    startKafka(at(kafkaPort)),
    startMongo(at(mongoPort)),
    startRedis(at(redisPort)),
  ]);
  return { kafka, mongo, redis, stop: () => stopConcurrently([kafka, mongo, redis]) };
};

/** Returns the engines as environment variables, in the order Kafka, MongoDB, Redis. */
export const environmentOf = (
  engines: Record<'kafka' | 'mongo' | 'redis', { url: string }>,
): Record<string, string> => ({
  KAFKA_BROKERS: engines.kafka.url,
  MONGO_URL: engines.mongo.url,
  REDIS_URL: engines.redis.url,
});
