import { readTestEngines } from '@tocsin/shared/testing/read-test-engines.ts';
import { startEngines } from '../engines/start-engines.ts';
import type { BenchEngines } from './start-tocsin.ts';

/** Calls `use` with the engines that the environment names, or starts engines for the call. */
export async function useEngines(use: (engines: BenchEngines) => Promise<void>): Promise<void> {
  const given = readTestEngines();
  if (given !== undefined) return use({ ...given, pids: {} });
  const { kafka, mongo, redis, stop } = await startEngines({ isForLong: true });
  try {
    await use({
      kafkaBrokers: kafka.url,
      mongoUrl: mongo.url,
      redisUrl: redis.url,
      pids: { kafka: kafka.pid, mongo: mongo.pid, redis: redis.pid },
    });
  } finally {
    await stop();
  }
}
