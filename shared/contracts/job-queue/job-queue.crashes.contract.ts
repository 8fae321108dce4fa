import { expect, test } from '@jest/globals';
import { eventually } from '../../testing/eventually.ts';
import { collect, gate, newJob, newJobs, waitUntilIdle, slowTestMs, type Stage } from './job-queue.fixtures.ts';
import type { Job } from '../../ports/job-queue.ts';

/** Shorter than the default, to speed up tests, but long enough for a busy machine to renew it. */
const leaseMs = 2_000;
/** Longer than the test, so that jobs that another worker runs were released. */
const longLeaseMs = 120_000;

/** Describes jobs of a closing worker. */
export function closing({ queue, open }: Stage): void {
  test('closing a worker waits for running jobs and claims no more', async () => {
    const [jobs, other] = [await open(), await open()];
    const running = gate();
    let ended = 0;
    const { worker, runs } = await collect(jobs, queue, {
      concurrency: 2,
      run: () => running.wait().then(() => void (ended += 1)),
    });
    await jobs.add(queue, newJobs(5));
    await eventually(() => runs.length === 2);
    const closed = worker.close();
    setTimeout(running.open, 100);
    await closed;
    expect(ended).toBe(2);
    expect(await other.counts(queue)).toMatchObject({ waiting: 3, active: 0 });
    await worker.close();
    expect(runs.length).toBe(2);
  });

  test('other workers take over jobs that run longer than the grace period', async () => {
    const [jobs, other] = [await open(), await open()];
    const never = gate();
    const { worker, runs } = await collect(jobs, queue, { leaseMs: longLeaseMs, run: () => never.wait() });
    await jobs.add(queue, newJobs(2));
    await eventually(() => runs.length === 2);
    await worker.close(50);
    const second = await collect(other, queue, { leaseMs: longLeaseMs });
    await eventually(() => expect(second.ids().sort()).toEqual(runs.map(({ id }) => id).sort()));
    await waitUntilIdle(other, queue);
    never.open();
    await waitUntilIdle(other, queue);
    expect(second.runs.length).toBe(2);
  });

  test('a job running while its queue closes can add another', async () => {
    const [jobs, other] = [await open(), await open()];
    const running = gate();
    const { runs } = await collect(jobs, queue, {
      run: async () => {
        await running.wait();
        await jobs.add(`${queue}-next`, [newJob()]);
      },
    });
    await jobs.add(queue, [newJob()]);
    await eventually(() => runs.length === 1);
    const closed = jobs.close();
    running.open();
    await closed;
    expect(await other.counts(`${queue}-next`)).toMatchObject({ waiting: 1 });
    expect(await other.counts(queue)).toEqual({ waiting: 0, delayed: 0, active: 0, failed: 0 });
  });
}

/** Describes jobs of a dead or slow process. */
export function crashing({ queue, open, startChild }: Stage): void {
  test('a job that runs longer than its lease is not run twice while its worker lives', async () => {
    const [one, two] = [await open(), await open()];
    const job = newJob();
    const run = ({ id }: Job) =>
      id === job.id ? new Promise<void>((resolve) => setTimeout(resolve, leaseMs * 2.5)) : Promise.resolve();
    const workers = [await collect(one, queue, { leaseMs, run }), await collect(two, queue, { leaseMs, run })];
    await one.add(queue, [job]);
    await eventually(() => workers.some(({ runs }) => runs.length === 1));
    await waitUntilIdle(one, queue);
    expect(workers.flatMap(({ ids }) => ids())).toEqual([job.id]);
  });

  test(
    'another process runs the job of a killed one within 15 seconds',
    async () => {
      const jobs = await open();
      const child = startChild({ runs: 'hang' });
      await eventually(() => child.lines.includes('"ready"'));
      const added = newJobs(3);
      await jobs.add(queue, added);
      await eventually(() => child.lines.length === 4);
      const { runs, ids } = await collect(jobs, queue);
      await child.kill();
      const killedAt = Date.now();
      await eventually(() => expect(ids().sort()).toEqual(added.map(({ id }) => id).sort()));
      expect(Math.max(...runs.map(({ at }) => at)) - killedAt).toBeLessThan(15_000);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
      await waitUntilIdle(jobs, queue);
      expect(runs.length).toBe(3);
    },
    slowTestMs,
  );

  test(
    'a job whose processes are killed repeatedly is still run, with its attempts',
    async () => {
      const jobs = await open();
      const job = newJob({ attempts: 1 });
      await jobs.add(queue, [job]);
      for (let kill = 0; kill < 4; kill += 1) {
        const child = startChild({ runs: 'hang', leaseMs: 500 });
        await eventually(() => child.lines.some((line) => line.includes(job.id)));
        await child.kill();
      }
      const { ids, runs } = await collect(jobs, queue, { leaseMs: 500 });
      await eventually(() => expect(ids()).toEqual([job.id]));
      await waitUntilIdle(jobs, queue);
      expect(runs).toMatchObject([{ id: job.id, attempt: 1 }]);
    },
    slowTestMs,
  );
}
