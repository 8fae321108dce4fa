import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { openLogger } from '../../../platform/logger.ts';
import { jobQueueContract } from '../../../contracts/job-queue/job-queue.contract.ts';
import { collect, gate, newJob, newJobs, waitUntilIdle } from '../../../contracts/job-queue/job-queue.fixtures.ts';
import type { JobQueue } from '../../../ports/job-queue.ts';
import { eventually } from '../../../testing/eventually.ts';
import { openTcpProxy, type TcpProxy } from '../../../testing/tcp-proxy.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { openBullmqJobQueue } from './bullmq-job-queue.ts';
import { newBullmqPlace } from './bullmq-job-queue.place.ts';

const queue = 'errands';

describeWithEngines('bullmq', ({ redisUrl }) => {
  jobQueueContract('bullmq', () => newBullmqPlace(redisUrl));

  test('bullmq: keeps finished jobs, except those that are not remembered', async () => {
    const place = await newBullmqPlace(redisUrl);
    const jobs = await place.open();
    const redis = new Redis(redisUrl);
    try {
      const [remembered, ...others] = [newJob(), newJob({ isRemembered: false }), newJob({ isRemembered: false })];
      await jobs.add(queue, [remembered!, ...others]);
      await collect(jobs, queue);
      await waitUntilIdle(jobs, queue);
      expect(await redis.keys(`${place.prefix}:${queue}:job-*`)).toEqual([
        `${place.prefix}:${queue}:${remembered!.id}`,
      ]);
    } finally {
      redis.disconnect();
      await jobs.close();
      await place.remove();
    }
  });

  describe('bullmq: a queue during an outage of Redis', () => {
    let place: Awaited<ReturnType<typeof newBullmqPlace>>;
    let proxy: TcpProxy;
    /** Connects to Redis through the proxy. */
    let jobs: JobQueue;
    /** Connects directly. */
    let other: JobQueue;

    const openThroughProxy = (): Promise<JobQueue> => {
      const url = new URL(redisUrl);
      url.host = `127.0.0.1:${proxy.port}`;
      return openBullmqJobQueue({ url: url.href, prefix: place.prefix, log: openLogger('test', 'silent') });
    };

    beforeEach(async () => {
      place = await newBullmqPlace(redisUrl);
      const { hostname, port } = new URL(redisUrl);
      proxy = await openTcpProxy({ host: hostname, port: Number(port || 6379) });
      jobs = await openThroughProxy();
      other = await place.open();
    });
    afterEach(async () => {
      await jobs.close();
      await other.close();
      await proxy.close();
      await place.remove();
    });

    /** Resolves with the time in milliseconds until the call was rejected as unavailable. */
    const refusal = async (call: () => Promise<unknown>): Promise<number> => {
      const started = performance.now();
      await expect(call()).rejects.toMatchObject({ code: 'unavailable' });
      return performance.now() - started;
    };

    test('rejects all calls immediately, and works again when Redis recovers', async () => {
      await jobs.add(queue, [newJob()]);
      proxy.cut({ refuse: true });
      await eventually(() =>
        jobs.ping().then(
          () => false,
          () => true,
        ),
      );
      const calls = [
        () => jobs.add(queue, [newJob()]),
        () => jobs.counts(queue),
        () => jobs.failed(queue, { limit: 10, offset: 0 }),
        () => jobs.retryFailed(queue, 'a'),
        () => jobs.schedule(queue, { id: 'a', every: 1_000, data: {} }),
        () => jobs.add('never-asked-before', [newJob()]),
      ];
      // Waiting for a response would take longer.
      for (const call of calls) expect(await refusal(call)).toBeLessThan(500);
      proxy.restore();
      await eventually(() => jobs.ping());
      await jobs.add('never-asked-before', [newJob()]);
      expect(await jobs.counts(queue)).toMatchObject({ waiting: 1 });
    });

    test('rejects added jobs within two seconds while Redis is silent', async () => {
      await jobs.add(queue, [newJob()]);
      proxy.hold();
      // Two seconds plus tolerance for a busy machine.
      expect(await refusal(() => jobs.add(queue, newJobs(100)))).toBeLessThan(4_000);
      expect(await refusal(() => jobs.add(queue, [newJob()]))).toBeLessThan(4_000);
    });

    for (const fault of ['cut', 'hold'] as const) {
      test(`workers continue when Redis recovers (${fault})`, async () => {
        const { ids } = await collect(jobs, queue, { leaseMs: 2_000 });
        const before = newJob();
        await other.add(queue, [before]);
        await eventually(() => expect(ids()).toEqual([before.id]));
        if (fault === 'cut') proxy.cut({ refuse: true });
        else proxy.hold();
        const attempts = proxy.acceptedCount;
        await eventually(() =>
          jobs.ping().then(
            () => false,
            () => true,
          ),
        );
        // Disconnected and reconnected.
        await eventually(() => expect(proxy.acceptedCount).toBeGreaterThan(attempts + 2));
        const after = newJobs(50);
        await other.add(queue, after);
        proxy.restore();
        await eventually(() => expect(new Set(ids())).toEqual(new Set([before, ...after].map(({ id }) => id))));
        await waitUntilIdle(other, queue);
      });
    }

    test('stores the outcome of a run after an outage, without running the job again', async () => {
      const running = gate();
      const { runs } = await collect(jobs, queue, { run: () => running.wait() });
      await other.add(queue, [newJob()]);
      await eventually(() => runs.length === 1);
      proxy.cut({ refuse: true });
      await eventually(() =>
        jobs.ping().then(
          () => false,
          () => true,
        ),
      );
      running.open();
      await new Promise((resolve) => setImmediate(resolve));
      proxy.restore();
      await waitUntilIdle(other, queue);
      expect(runs.length).toBe(1);
      expect(await other.counts(queue)).toMatchObject({ failed: 0 });
    });

    test('a queue opened during an outage works after it', async () => {
      await jobs.close();
      proxy.cut({ refuse: true });
      jobs = await openThroughProxy();
      const { ids } = await collect(jobs, queue);
      await jobs.schedule(queue, { id: 'sweep', every: 500, data: {} }).catch(() => undefined);
      const job = newJob();
      await other.add(queue, [job]);
      proxy.restore();
      await eventually(() => expect(ids()).toContain(job.id));
      await eventually(() => jobs.schedule(queue, { id: 'sweep', every: 200, data: {} }));
      await eventually(() => ids().some((id) => id.startsWith('sweep.')));
    });

    test('close leaves no connection, even while Redis is down or silent', async () => {
      await collect(jobs, queue);
      await collect(jobs, `${queue}-other`);
      await jobs.add(queue, [newJob()]);
      await waitUntilIdle(jobs, queue);
      await jobs.close();
      await eventually(() => expect(proxy.connectionCount).toBe(0));
      for (const fault of ['cut', 'hold'] as const) {
        jobs = await openThroughProxy();
        await collect(jobs, queue);
        await waitUntilIdle(jobs, queue);
        if (fault === 'cut') proxy.cut({ refuse: true });
        else proxy.hold();
        await eventually(() =>
          jobs.ping().then(
            () => false,
            () => true,
          ),
        );
        const started = performance.now();
        await jobs.close();
        expect(performance.now() - started).toBeLessThan(8_000);
        proxy.restore();
        await other.ping();
        await eventually(() => expect(proxy.connectionCount).toBe(0));
        // Counts connections only now, because the system accepts a connection before the proxy sees it.
        const attempts = proxy.acceptedCount;
        await other.add(`${queue}-later`, [newJob({ id: fault, delayMs: 1_500 })]);
        const later = await collect(other, `${queue}-later`);
        await eventually(() => expect(later.ids()).toEqual([fault]));
        await later.worker.close();
        expect(proxy.acceptedCount).toBe(attempts);
      }
    });
  });
});
