import { randomBytes } from 'node:crypto';
import { readTestEngines, type TestEngines } from '@tocsin/shared/testing/read-test-engines.ts';
import {
  startClusterStack,
  startEmbeddedStack,
  type ClusterLayout,
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
