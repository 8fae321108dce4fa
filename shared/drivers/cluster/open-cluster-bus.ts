import type { Bus } from '../../ports/bus/bus.ts';
import type { ClusterStoresOptions } from './open-cluster-stores.ts';
import { openRedisBus } from './redis/redis-bus.ts';

/** Opens the bus. Its keys and channels begin with the name of the log's topic. */
export function openClusterBus({
  stores,
  kafka,
  clock,
  log,
}: Pick<ClusterStoresOptions, 'stores' | 'kafka' | 'clock' | 'log'>): Promise<Bus> {
  return openRedisBus({ url: stores.redisUrl, keyPrefix: `${kafka.topic}:`, clock, log });
}
