import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { openBullmqJobQueue } from '@tocsin/shared/drivers/cluster/bullmq/bullmq-job-queue.ts';
import { openRedisBus } from '@tocsin/shared/drivers/cluster/redis/redis-bus.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Bus } from '@tocsin/shared/ports/bus/bus.ts';
import type { JobQueue } from '@tocsin/shared/ports/job-queue.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { openTcpProxy, type TcpProxy } from '@tocsin/shared/testing/tcp-proxy.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import type { Engine } from '../../tools/engines/engine.ts';
import { startRedis } from '../../tools/engines/start-redis.ts';
import { portOf, replicate } from './start-redis-pair.ts';

const log = openLogger('test', 'silent');
const patienceMs = 20_000;

describeWithOwnEngines('Redis failover to a replica without closed connections', () => {
  let first: Engine;
  let second: Engine;
  /** The address that nodes use; it leads to the primary. */
  let address: { host: string; port: number };
  let proxy: TcpProxy;
  let url: string;
  let open: { close(): Promise<void> }[];

  beforeAll(async () => {
    [first, second] = await Promise.all([startRedis(), startRedis()]);
  });
  afterAll(() => Promise.all([first.stop(), second.stop()]));
  beforeEach(async () => {
    await replicate(first, null);
    await replicate(second, first);
    address = { host: '127.0.0.1', port: portOf(first) };
    proxy = await openTcpProxy(address);
    url = `redis://127.0.0.1:${proxy.port}`;
    open = [];
  });
  afterEach(async () => {
    await Promise.all(open.map((one) => one.close()));
    await proxy.close();
  });

  const failOver = async (): Promise<void> => {
    await replicate(second, null);
    await replicate(first, second);
  };
  const openBus = async (at: string): Promise<Bus> => {
    const bus = await openRedisBus({ url: at, keyPrefix: 'test:', clock: Date.now, log });
    open.push(bus);
    return bus;
  };

  test('publishes of a node without writes reach subscribers at the new primary', async () => {
    const bus = await openBus(url);
    await failOver();
    address.port = portOf(second);
    const other = await openBus(second.url);
    const seen: string[] = [];
    await other.subscribe('channel', (payload) => seen.push(payload));
    await eventually(
      async () => {
        await bus.publish('channel', ['x']).catch(() => undefined);
        expect(seen).toContain('x');
      },
      { timeoutMs: patienceMs },
    );
  });

  test('publish/subscribe is unavailable while its address leads to a replica, and recovers with the primary', async () => {
    await failOver();
    const bus = await openBus(url);
    expect(bus.isConnected).toBe(false);
    address.port = portOf(second);
    await eventually(() => bus.isConnected, { timeoutMs: patienceMs });
  });

  test('accepts and runs jobs at the new primary', async () => {
    const jobs: JobQueue = await openBullmqJobQueue({ url, prefix: 'test', log });
    open.push(jobs);
    const ran: string[] = [];
    await jobs.work('mails', { concurrency: 1, run: ({ id }) => Promise.resolve(void ran.push(id)) });
    await jobs.add('mails', [{ id: 'before', data: {} }]);
    await eventually(() => ran.length === 1, { timeoutMs: patienceMs });
    await failOver();
    address.port = portOf(second);
    await eventually(
      () =>
        jobs.add('mails', [{ id: 'after', data: {} }]).then(
          () => true,
          () => false,
        ),
      { timeoutMs: patienceMs },
    );
    await eventually(() => expect(ran).toEqual(['before', 'after']), { timeoutMs: patienceMs });
  });
});
