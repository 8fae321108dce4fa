import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { closers, type Closers } from '../../../platform/lifecycle.ts';
import { openLogger } from '../../../platform/logger.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { eventually } from '../../../testing/eventually.ts';
import { newRedisPlace } from './redis-bus.place.ts';
import { RedisConnection } from './redis-connection.ts';
import { RedisConnectionCounts } from './redis-connection-counts.ts';

describeWithEngines('redis connection counts', ({ redisUrl }) => {
  let own: Closers;
  let redis: Redis;
  let keyPrefix: string;
  let connection: RedisConnection;
  let counts: RedisConnectionCounts;
  beforeEach(async () => {
    own = closers();
    redis = new Redis(redisUrl);
    own.add(async () => {
      const closed = once(redis, 'end');
      redis.disconnect();
      await closed;
    });
    const place = await newRedisPlace(redisUrl);
    own.add(() => place.remove());
    keyPrefix = place.keyPrefix;
    connection = new RedisConnection({
      url: redisUrl,
      name: 'test',
      part: 'Bus',
      log: openLogger('test', 'silent'),
    });
    own.add(() => connection.close());
    await eventually(() => connection.isUp);
    counts = new RedisConnectionCounts(connection, keyPrefix);
  });
  afterEach(() => own.closeAll());

  /**
   * `redis.monitor()` rejects, and leaves its connection open, if Redis reports a command of another test together
   * with the response to `MONITOR`: ioredis takes the report for a second response.
   */
  async function openMonitor(): Promise<Redis> {
    const monitor = redis.duplicate({ monitor: true });
    monitor.on('error', () => undefined); // only such a report, which concerns another test
    await new Promise((resolve) => monitor.once('monitoring', resolve));
    return monitor;
  }

  /** Returns how many commands on the keys of this test Redis ran during the action, including those of scripts. */
  async function commandsDuring(action: () => Promise<unknown>): Promise<number> {
    const monitor = await openMonitor();
    let commands = 0;
    const end = Promise.withResolvers<void>();
    monitor.on('monitor', (_time: string, args: string[]) => {
      if (args.includes(`${keyPrefix}end`)) end.resolve();
      else if (args.some((arg) => arg.startsWith(keyPrefix))) commands += 1;
    });
    try {
      await action();
      await redis.echo(`${keyPrefix}end`);
      await end.promise;
      return commands;
    } finally {
      const closed = once(monitor, 'end');
      monitor.disconnect();
      // It would first read what Redis reported of the other tests' commands.
      monitor.stream.destroy();
      await closed;
    }
  }

  const topics = (count: number) =>
    new Map(Array.from({ length: count }, (_, n): [string, number] => [`topic-${n}`, 1]));

  test('an announcement of 20,000 unchanged keys costs a constant number of commands', async () => {
    await counts.announce('node', topics(20_000));
    expect(await commandsDuring(() => counts.announce('node', topics(20_000)))).toBeLessThanOrEqual(10);
    const changed = topics(20_000).set('topic-7', 2);
    expect(await commandsDuring(() => counts.announce('node', changed))).toBeLessThanOrEqual(12);
  });

  test('a count costs the nodes that have the key, not all nodes', async () => {
    for (let node = 0; node < 300; node += 1) await counts.announce(`node-${node}`, new Map([[`topic-${node}`, 1]]));
    const count = () => counts.count('topic-7', 'none');
    expect(await count()).toBe(1);
    expect(await commandsDuring(count)).toBeLessThanOrEqual(5);
  });

  test('removes what an expired node announced', async () => {
    await counts.announce('dead', topics(1_200));
    await redis.del(`${keyPrefix}{presence}:announced:dead`);
    await redis.zadd(`${keyPrefix}{presence}:nodes`, 0, 'dead');
    expect(await counts.count('topic-7', 'none')).toBe(0);
    for (let beat = 0; beat < 3; beat += 1) await counts.announce('alive', new Map([['topic-7', 2]]));
    expect(await counts.count('topic-7', 'none')).toBe(2);
    const keys = await redis.keys(`${keyPrefix}*`);
    expect(keys.map((key) => key.slice(keyPrefix.length)).sort()).toEqual([
      '{presence}:announced:alive',
      '{presence}:counts:topic-7',
      '{presence}:keys:alive',
      '{presence}:nodes',
    ]);
  });

  test('announces everything again after Redis lost its data', async () => {
    await counts.announce('node', topics(2_500));
    await redis.unlink(await redis.keys(`${keyPrefix}*`));
    await counts.announce('node', topics(2_500));
    const other = new RedisConnectionCounts(connection, keyPrefix);
    expect(await other.count('topic-2499', 'none')).toBe(1);
  });
});
