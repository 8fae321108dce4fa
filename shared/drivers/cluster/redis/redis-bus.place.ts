import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { openLogger } from '../../../platform/logger.ts';
import type { BusPlace } from '../../../contracts/bus/bus.contract.ts';
import { openRedisBus } from './redis-bus.ts';

/** Keys and channels with a unique prefix on the Redis server. */
export function newRedisPlace(url: string): Promise<BusPlace & { readonly keyPrefix: string }> {
  const keyPrefix = `test-${randomUUID()}:`;
  return Promise.resolve({
    keyPrefix,
    hasManyNodes: true,
    open: () => openRedisBus({ url, keyPrefix, clock: Date.now, log: openLogger('test', 'silent') }),
    now: () => Date.now(),
    advanceTime: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    remove: () => deleteKeys(url, keyPrefix),
  });
}

/** Deletes the keys of a test. */
export async function deleteKeys(url: string, keyPrefix: string): Promise<void> {
  const redis = new Redis(url);
  for await (const keys of redis.scanStream({ match: `${keyPrefix}*`, count: 1_000 }) as AsyncIterable<string[]>) {
    if (keys.length > 0) await redis.unlink(...keys);
  }
  await redis.quit();
}
