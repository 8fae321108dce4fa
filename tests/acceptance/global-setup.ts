import { randomBytes } from 'node:crypto';
import { readTestEngines } from '@tocsin/shared/testing/read-test-engines.ts';
import { startClusterStack, startEmbeddedStack, type Stack } from '../../tools/stack/start-stack.ts';

/** What every stack of the acceptance tests is configured with. Each test client has an address of its own, by `X-Forwarded-For`. */
const env = { TRUST_PROXY: '1', ADMIN_TOKEN: 'the-operator-of-the-tests', LOG_LEVEL: 'info' };

/** Starts the stack that all acceptance files share: embedded, or a cluster on the test engines with `TOCSIN_ENGINE=cluster`. */
export default async function globalSetup(): Promise<void> {
  const stack = process.env['TOCSIN_ENGINE'] === 'cluster' ? await startCluster() : await startEmbeddedStack({ env });
  process.env['TOCSIN_TEST_STACK'] = JSON.stringify({ engine: stack.engine, urls: stack.urls, env: stack.env });
  (globalThis as { tocsinStack?: Stack }).tocsinStack = stack;
}

async function startCluster(): Promise<Stack> {
  const engines = readTestEngines();
  if (engines === undefined) throw new Error('TEST_KAFKA_BROKERS, TEST_MONGO_URL and TEST_REDIS_URL are not set');
  const run = randomBytes(4).toString('hex');
  const mongoUrl = new URL(engines.mongoUrl);
  mongoUrl.pathname = `/tocsin_${run}`;
  return startClusterStack({
    kafkaBrokers: engines.kafkaBrokers, mongoUrl: mongoUrl.href, redisUrl: engines.redisUrl,
    jwtSecret: randomBytes(32).toString('hex'),
    env: { ...env, KAFKA_TOPIC: `tocsin.${run}`, KAFKA_PARTITIONS: '4' },
  });
}
