import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '../domain/messages/message.ts';
import type { Topic } from '../domain/topics/topic.ts';
import type { Engine } from '../ports/engine.ts';
import { openEngine } from '../open-engine.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import type { Closers } from '../platform/lifecycle.ts';
import { loadConfig, type Config } from '../platform/load-config.ts';
import { openLogger } from '../platform/logger.ts';
import { newId } from './builders.ts';
import { emptyDatabases } from './empty-databases.ts';
import { readTestEngines, type TestEngines } from './read-test-engines.ts';
import { removeInstallation } from './remove-installation.ts';
import { whenAvailable } from './when-available.ts';

/** A new, empty installation. */
export interface TestPlace {
  /** The environment of its processes. LOG_LEVEL is silent. */
  readonly env: Readonly<Record<string, string>>;
  readonly config: Config;
  remove(): Promise<void>;
}

/** The engine of tests that run on either: the one in `TOCSIN_ENGINE`, by default embedded. */
export const engineUnderTest = process.env['TOCSIN_ENGINE'] === 'cluster' ? 'cluster' : 'embedded';

/** The engines of `engineUnderTest`; undefined if embedded. Throws if the environment does not contain them. */
export function enginesUnderTest(): TestEngines | undefined {
  if (engineUnderTest === 'embedded') return undefined;
  const engines = readTestEngines();
  if (engines === undefined)
    throw new Error('TOCSIN_ENGINE=cluster needs TEST_KAFKA_BROKERS, TEST_MONGO_URL and TEST_REDIS_URL');
  return engines;
}

/** A directory for an embedded installation, or an empty database and unique names on the given engines. */
export function newTestPlace(engines?: TestEngines): TestPlace {
  const databases = engines === undefined ? undefined : emptyDatabases(engines.mongoUrl);
  const database = databases?.take() ?? `test-${newId()}`;
  const dataDir = mkdtempSync(join(tmpdir(), 'tocsin-test-'));
  const env = {
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    ...(engines === undefined ? {} : clusterEnv(engines, database)),
  };
  const config = loadConfig(env, '/nonexistent');
  return {
    env,
    config,
    async remove() {
      rmSync(dataDir, { recursive: true, force: true });
      await removeInstallation(config, { keepsCollections: true });
      databases?.add(database);
    },
  };
}

function clusterEnv(engines: TestEngines, database: string): Record<string, string> {
  const mongoUrl = new URL(engines.mongoUrl);
  mongoUrl.pathname = `/${database}`;
  return {
    KAFKA_BROKERS: engines.kafkaBrokers,
    KAFKA_TOPIC: `test-${newId()}`,
    KAFKA_PARTITIONS: '2',
    MONGO_URL: mongoUrl.href,
    REDIS_URL: engines.redisUrl,
    JWT_SECRET: 'a secret of the tests: 32 bytes or more',
  };
}

export function openTestEngine(place: TestPlace, clock: Clock = systemClock): Promise<Engine> {
  return whenAvailable(() => openEngine(place.config, { clock, log: openLogger('test', place.config.LOG_LEVEL) }));
}

/** Opens a new installation on the engine under test; `own` closes and removes it. */
export async function openOwnEngine(own: Closers, clock?: Clock): Promise<{ place: TestPlace; engine: Engine }> {
  const place = newTestPlace(enginesUnderTest());
  own.add(() => place.remove());
  const engine = await openTestEngine(place, clock);
  own.add(() => engine.close());
  return { place, engine };
}

/** Publishes like the API: to the log first, then to the store. */
export async function publish(
  engine: Engine,
  topic: Pick<Topic, 'partition' | 'name'>,
  message: Message,
): Promise<void> {
  const record = { type: 'message' as const, timestamp: message.timestamp, message };
  const offset = await engine.eventLog.append(topic.partition, record, topic.name);
  await engine.messages.apply([{ partition: topic.partition, offset, record }]);
}
