import { randomBytes } from 'node:crypto';
import { readTestEngines, type TestEngines } from '@tocsin/shared/testing/read-test-engines.ts';
import type { TestPlace } from '@tocsin/shared/testing/test-engine.ts';
import {
  startClusterStack,
  startEmbeddedStack,
  type ClusterLayout,
  type ClusterOptions,
  type Replicas,
  type Stack,
} from '../../tools/stack/start-stack.ts';

/**
 * A stack for one test that breaks or reconfigures it, on the engine that `TOCSIN_ENGINE` names; `env` is its
 * configuration. On the cluster it is one process by default; `layout` requests several API nodes or separate workers.
 */
export function startOwnStack(env: Record<string, string> = {}, layout: ClusterLayout = 'single'): Promise<Stack> {
  if (process.env['TOCSIN_ENGINE'] !== 'cluster') return startStackOn(undefined, env, layout);
  const engines = readTestEngines();
  if (engines === undefined) throw new Error('TEST_KAFKA_BROKERS, TEST_MONGO_URL and TEST_REDIS_URL are not set');
  return startStackOn(engines, env, layout);
}

/** A cluster at the engines and with the names of a test place. */
export function startStackAt(
  place: TestPlace,
  options: Omit<ClusterOptions, 'kafkaBrokers' | 'mongoUrl' | 'redisUrl' | 'jwtSecret'>,
): Promise<Stack> {
  const { KAFKA_BROKERS, KAFKA_TOPIC, MONGO_URL, REDIS_URL, JWT_SECRET } = place.env as Record<string, string>;
  return startClusterStack({
    ...options,
    kafkaBrokers: KAFKA_BROKERS!,
    mongoUrl: MONGO_URL!,
    redisUrl: REDIS_URL!,
    jwtSecret: JWT_SECRET!,
    env: { KAFKA_TOPIC: KAFKA_TOPIC!, ...options.env },
  });
}

/** A new installation on the engines, or an embedded one without engines. */
export function startStackOn(
  engines: TestEngines | undefined,
  env: Record<string, string>,
  layout: ClusterLayout,
  replicas: Replicas = {},
): Promise<Stack> {
  if (engines === undefined) return startEmbeddedStack({ env });
  const run = randomBytes(4).toString('hex');
  const mongoUrl = new URL(engines.mongoUrl);
  mongoUrl.pathname = `/tocsin_${run}`;
  return startClusterStack({
    kafkaBrokers: engines.kafkaBrokers,
    mongoUrl: mongoUrl.href,
    redisUrl: engines.redisUrl,
    jwtSecret: randomBytes(32).toString('hex'),
    layout,
    replicas,
    env: { KAFKA_TOPIC: `tocsin.${run}`, KAFKA_PARTITIONS: '4', ...env },
  });
}
