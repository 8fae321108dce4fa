import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { openTcpProxy } from '@tocsin/shared/testing/tcp-proxy.ts';
import type { Engine } from '../../tools/engines/engine.ts';
import { startConcurrently } from '../../tools/engines/start-concurrently.ts';
import { startRedis } from '../../tools/engines/start-redis.ts';

const patienceMs = 20_000;
/** How long the operator of Redis takes to notice a lost primary. */
const noticeMs = 3_000;

export const portOf = ({ url }: Engine): number => Number(new URL(url).port);

/** Makes a server a primary, or a replica of the primary that keeps its connections. */
export async function replicate(replica: Engine, primary: Engine | null): Promise<void> {
  const redis = new Redis(replica.url);
  if (primary === null) await redis.replicaof('NO', 'ONE');
  else {
    await redis.replicaof('127.0.0.1', portOf(primary));
    await eventually(async () => (await redis.info('replication')).includes('master_link_status:up'), {
      timeoutMs: patienceMs,
    });
  }
  await redis.quit();
}

/** A primary with a replica, and an address that leads to the primary. */
export interface RedisPair {
  readonly url: string;
  /** Kills the primary, promotes the replica and points the address to it. */
  failOver(): Promise<void>;
}

/** Starts the pair. `own` stops it. */
export async function startRedisPair(own: Closers): Promise<RedisPair> {
  const [primary, replica] = await startConcurrently<[Engine, Engine]>([startRedis(), startRedis()]);
  own.add(() => primary.stop());
  own.add(() => replica.stop());
  await replicate(replica, primary);
  const target = { host: '127.0.0.1', port: portOf(primary) };
  const proxy = await openTcpProxy(target);
  own.add(() => proxy.close());
  return {
    url: `redis://127.0.0.1:${proxy.port}`,
    async failOver() {
      await primary.kill();
      await pause(noticeMs);
      await replicate(replica, null);
      target.port = portOf(replica);
    },
  };
}
