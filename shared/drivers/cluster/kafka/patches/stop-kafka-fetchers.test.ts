import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { stopKafkaFetchers } from './stop-kafka-fetchers.ts';

const require = createRequire(import.meta.url);

interface FetchManager {
  start(): Promise<void>;
}

const Runner = require('kafkajs/src/consumer/runner') as { readonly prototype: object };
const createFetchManager = require('kafkajs/src/consumer/fetchManager') as (options: object) => FetchManager;

test('fetchers that start after their consumer stopped end, instead of blocking the event loop', async () => {
  expect(stopKafkaFetchers()).toBe(true);
  const logger = { namespace: () => logger, debug: () => undefined, info: () => undefined };
  const runner = Object.assign(Object.create(Runner.prototype) as { fetch(nodeId: number): unknown }, {
    running: false,
    logger,
    consumerGroup: {},
    fetchManager: undefined as FetchManager | undefined,
  });
  const options = { logger, getNodeIds: () => [1, 2], concurrency: 1, handler: () => undefined };
  runner.fetchManager = createFetchManager({ ...options, fetch: (nodeId: number) => runner.fetch(nodeId) });
  await runner.fetchManager.start();
});
