import { setTimeout as sleep } from 'node:timers/promises';
import { startOnFreePorts } from '../engines/free-ports.ts';
import { kafkaContainerEnvironment } from '../engines/kafka-properties.ts';
import { isPrimary, mongoParameters, mongoUrl, replicaSet } from '../engines/mongo-replica-set.ts';
import { startConcurrently, stopConcurrently } from '../engines/start-concurrently.ts';

/** The images of docker-compose.yml. */
export const images = { kafka: 'apache/kafka:4.3.1', mongo: 'mongo:8.0', redis: 'redis:8.2' };

export type ContainerEngines = { environment: Record<string, string>; stop: () => Promise<void> };

const primaryMsMax = 60_000;

/**
 * Starts Kafka, MongoDB and Redis as containers and returns the environment that names them. Throws if there is no
 * container runtime ("Could not find a working container runtime strategy") or an image is unavailable; then stops the
 * started containers.
 */
export const startContainerEngines = async (): Promise<ContainerEngines> => {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const runtime = await getContainerRuntimeClient();
  const host = runtime.info.containerRuntime.host;
  const [kafka, mongo, redis] = await startConcurrently<[StartedContainer, StartedContainer, StartedContainer]>([
    startKafka(host),
    startMongo(),
    startRedis(),
  ]);
  return {
    environment: { KAFKA_BROKERS: kafka.url, MONGO_URL: mongo.url, REDIS_URL: redis.url },
    stop: () => stopConcurrently([kafka, mongo, redis]),
  };
};

type StartedContainer = { url: string; stop: () => Promise<unknown> };

/** Kafka advertises its address to clients, so the host port must be known before it starts. */
const startKafka = (host: string): Promise<StartedContainer> =>
  startOnFreePorts(1, async ([port]) => {
    const { GenericContainer, Wait } = await import('testcontainers');
    const url = `${host}:${port}`;
    const container = await new GenericContainer(images.kafka)
      .withEnvironment(kafkaContainerEnvironment(url))
      .withExposedPorts({ container: 9092, host: port! })
      .withWaitStrategy(Wait.forLogMessage('Kafka Server started'))
      .start();
    return { url, stop: () => container.stop() };
  });

const startMongo = async (): Promise<StartedContainer> => {
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = await new GenericContainer(images.mongo)
    .withCommand(['mongod', '--replSet', replicaSet, '--bind_ip_all', ...mongoParameters])
    .withExposedPorts(27017)
    .withWaitStrategy(Wait.forLogMessage('Waiting for connections'))
    .start();
  const address = `${container.getHost()}:${container.getMappedPort(27017)}`;
  for (
    const end = Date.now() + primaryMsMax;
    !(await isPrimary(address, '127.0.0.1:27017').catch(() => false));
    await sleep(100)
  ) {
    if (Date.now() > end) throw new Error(`MongoDB at ${address} has no primary`);
  }
  return { url: mongoUrl(address), stop: () => container.stop() };
};

const startRedis = async (): Promise<StartedContainer> => {
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = await new GenericContainer(images.redis)
    .withCommand([
      'redis-server',
      '--save',
      '',
      '--appendonly',
      'yes',
      '--appendfsync',
      'everysec',
      '--maxmemory-policy',
      'noeviction',
    ])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
    .start();
  return { url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`, stop: () => container.stop() };
};
