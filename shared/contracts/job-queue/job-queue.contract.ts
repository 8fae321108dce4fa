import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../testing/eventually.ts';
import { startChild, type Child } from '../../testing/start-child.ts';
import type { ChildTask } from './job-queue.child.ts';
import { closing, crashing } from './job-queue.crashes.contract.ts';
import { collect, gate, newJob, newJobs, waitUntilIdle, slowTestMs, type Stage } from './job-queue.fixtures.ts';
import { scheduling } from './job-queue.schedules.contract.ts';
import { Discard, RetryLater, type JobQueue, type NewJob } from '../../ports/job-queue.ts';

/** A queue's storage on its engine, which several processes can open concurrently. */
export interface JobQueuePlace {
  open(clock?: () => number): Promise<JobQueue>;
  /** The module whose export `openJobQueueAt(address, clock)` opens the queue in another process, and its argument. */
  readonly child: { readonly module: string; readonly address: string };
  remove(): Promise<void>;
}

const childScript = fileURLToPath(new URL('./job-queue.child.ts', import.meta.url));

/** The contract of every job queue, with a new place for each test. */
export function jobQueueContract(name: string, newPlace: () => Promise<JobQueuePlace>): void {
  describe(`${name}: the job queue's contract`, () => {
    let place: JobQueuePlace;
    let opened: JobQueue[];
    let children: Child[];

    const stage: Stage = {
      queue: 'errands',
      open: async (clock) => {
        const jobs = await place.open(clock);
        opened.push(jobs);
        return jobs;
      },
      startChild: (task) => {
        const child = startChild(childScript, [
          JSON.stringify({ ...task, ...place.child, queue: stage.queue } satisfies ChildTask),
        ]);
        children.push(child);
        return child;
      },
    };

    beforeEach(async () => {
      opened = [];
      children = [];
      place = await newPlace();
    });
    afterEach(async () => {
      for (const child of children) await child.kill();
      await Promise.all(opened.map((jobs) => jobs.close()));
      await place.remove();
    }, slowTestMs);

    adding(stage);
    ordering(stage);
    failing(stage);
    closing(stage);
    crashing(stage);
    scheduling(stage);
  });
}

function adding({ queue, open }: Stage): void {
  test('runs a job once with its ID, data and attempt', async () => {
    const jobs = await open();
    const { runs } = await collect(jobs, queue);
    const job = newJob({ data: { text: 'é 🚨', list: [1, null, { deep: true }], none: null } });
    await jobs.add(queue, [job]);
    await eventually(() => runs.length > 0);
    await waitUntilIdle(jobs, queue);
    expect(runs).toMatchObject([{ id: job.id, data: job.data, attempt: 1 }]);
    expect(runs[0]!.data).toEqual(job.data);
  });

  test('runs a thousand jobs of one call once each, by workers of two nodes', async () => {
    const [one, two] = [await open(), await open()];
    const workers = [await collect(one, queue), await collect(two, queue)];
    const added = newJobs(1_000);
    await one.add(queue, added);
    await eventually(() => workers[0]!.runs.length + workers[1]!.runs.length >= added.length);
    await waitUntilIdle(one, queue);
    expect(workers.flatMap(({ ids }) => ids()).sort()).toEqual(added.map(({ id }) => id).sort());
  });

  test('jobs wait for a worker, even after the queue is reopened', async () => {
    const before = await open();
    const added = newJobs(3);
    await before.add(queue, added);
    await before.close();
    const after = await open();
    expect(await after.counts(queue)).toEqual({ waiting: 3, delayed: 0, active: 0, failed: 0 });
    const { ids } = await collect(after, queue);
    await eventually(() => expect(ids()).toEqual(added.map(({ id }) => id)));
  });

  test('does not add an ID that is waiting, running or finished', async () => {
    const jobs = await open();
    const job = newJob({ data: { n: 1 } });
    const again = { ...job, data: { n: 2 } };
    await jobs.add(queue, [job]);
    await jobs.add(queue, [again, again]);
    expect(await jobs.counts(queue)).toMatchObject({ waiting: 1 });
    const running = gate();
    const { runs, ids } = await collect(jobs, queue, {
      run: ({ id }) => (id === job.id ? running.wait() : Promise.resolve()),
    });
    await eventually(() => runs.length === 1);
    await jobs.add(queue, [again]);
    running.open();
    await waitUntilIdle(jobs, queue);
    const next = newJob();
    await jobs.add(queue, [again, next]);
    await eventually(() => expect(ids()).toEqual([job.id, next.id]));
    expect(runs[0]!.data).toEqual({ n: 1 });
  });

  test('queues are separate, even for the same job ID', async () => {
    const jobs = await open();
    const job = newJob();
    await jobs.add(queue, [job]);
    await jobs.add(`${queue}-other`, [job]);
    const { runs } = await collect(jobs, queue);
    await eventually(() => runs.length === 1);
    expect(await jobs.counts(`${queue}-other`)).toMatchObject({ waiting: 1 });
    await waitUntilIdle(jobs, queue);
    expect(runs.length).toBe(1);
  });

  test('rejects an invalid ID, priority or number of attempts without adding any job of the call', async () => {
    const jobs = await open();
    const wrong: Partial<NewJob>[] = [
      { id: '12345' },
      { id: 'a:b' },
      { id: '' },
      { priority: 0 },
      { priority: 101 },
      { attempts: 0 },
      { delayMs: -1 },
    ];
    for (const changes of wrong) await expect(jobs.add(queue, [newJob(), newJob(changes)])).rejects.toThrow(RangeError);
    await jobs.add(queue, []);
    expect(await jobs.counts(queue)).toEqual({ waiting: 0, delayed: 0, active: 0, failed: 0 });
    for (const id of ['a-b_c.d', '0-1', 'A']) await jobs.add(queue, [newJob({ id })]);
    expect(await jobs.counts(queue)).toMatchObject({ waiting: 3 });
  });

  test('an open queue responds to a ping, a closed one is unavailable', async () => {
    const jobs = await open();
    await jobs.ping();
    await jobs.close();
    await jobs.close();
    for (const call of [
      jobs.ping(),
      jobs.add(queue, [newJob()]),
      jobs.counts(queue),
      jobs.failed(queue, { limit: 1, offset: 0 }),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'unavailable' });
    }
    await expect(jobs.work(queue, { concurrency: 1, run: () => Promise.resolve() })).rejects.toMatchObject({
      code: 'unavailable',
    });
  });
}

function ordering({ queue, open }: Stage): void {
  test('runs jobs by priority number, then in order of arrival', async () => {
    const jobs = await open();
    await jobs.add(queue, [
      newJob({ id: 'late-1', priority: 100 }),
      newJob({ id: 'plain-1' }),
      newJob({ id: 'urgent-1', priority: 1 }),
    ]);
    await jobs.add(queue, [newJob({ id: 'plain-2', priority: 50 }), newJob({ id: 'urgent-2', priority: 1 })]);
    await jobs.add(queue, [newJob({ id: 'late-2', priority: 100 }), newJob({ id: 'plain-3' })]);
    const { ids } = await collect(jobs, queue, { concurrency: 1 });
    await eventually(() => ids().length === 7);
    expect(ids()).toEqual(['urgent-1', 'urgent-2', 'plain-1', 'plain-2', 'plain-3', 'late-1', 'late-2']);
  });

  test('runs as many jobs concurrently as the worker allows', async () => {
    const jobs = await open();
    let [running, most] = [0, 0];
    const { runs } = await collect(jobs, queue, {
      concurrency: 3,
      run: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running -= 1;
      },
    });
    await jobs.add(queue, newJobs(24));
    await eventually(() => runs.length === 24);
    await waitUntilIdle(jobs, queue);
    expect(most).toBe(3);
  });

  test('runs a delayed job after its time, not before', async () => {
    const jobs = await open();
    const { runs, ids } = await collect(jobs, queue);
    const added = Date.now();
    await jobs.add(queue, [
      newJob({ id: 'third', delayMs: 1_200 }),
      newJob({ id: 'second', delayMs: 600 }),
      newJob({ id: 'first' }),
    ]);
    await eventually(() => expect(ids()).toEqual(['first', 'second', 'third']));
    expect(runs[1]!.at - added).toBeGreaterThanOrEqual(600);
    expect(runs[2]!.at - added).toBeGreaterThanOrEqual(1_200);
    expect(runs[2]!.at - added).toBeLessThan(6_000);
  });

  test('counts waiting, delayed, active and failed jobs', async () => {
    const jobs = await open();
    const running = gate();
    await jobs.add(queue, [newJob({ id: 'bad', priority: 1, attempts: 1 }), ...newJobs(4)]);
    const { runs } = await collect(jobs, queue, {
      concurrency: 2,
      run: ({ id }) => (id === 'bad' ? Promise.reject(new Error('no')) : running.wait()),
    });
    await jobs.add(queue, newJobs(3, { delayMs: 60_000 }));
    await eventually(() => runs.length === 3);
    await eventually(async () =>
      expect(await jobs.counts(queue)).toEqual({ waiting: 2, delayed: 3, active: 2, failed: 1 }),
    );
    running.open();
    await eventually(async () =>
      expect(await jobs.counts(queue)).toEqual({ waiting: 0, delayed: 3, active: 0, failed: 1 }),
    );
  });
}

function failing({ queue, open }: Stage): void {
  test('retries a failed run after doubling pauses and counts attempts', async () => {
    const jobs = await open();
    const { runs } = await collect(jobs, queue, {
      run: ({ attempt }) => (attempt < 4 ? Promise.reject(new Error('not yet')) : Promise.resolve()),
    });
    await jobs.add(queue, [newJob({ backoffMs: 200 })]);
    await eventually(() => runs.length === 4);
    await waitUntilIdle(jobs, queue);
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    const pauses = runs.slice(1).map(({ at }, index) => at - runs[index]!.at);
    pauses.forEach((pause, index) => expect(pause).toBeGreaterThanOrEqual(200 * 2 ** index - 5));
    expect(await jobs.counts(queue)).toMatchObject({ failed: 0 });
  });

  test('fails a job without remaining attempts and lists it with its reason, newest first', async () => {
    const jobs = await open();
    const { runs } = await collect(jobs, queue, {
      concurrency: 1,
      run: ({ id }) => Promise.reject(new Error(`cannot do ${id}`)),
    });
    const started = Date.now();
    for (const id of ['a', 'b', 'c']) {
      await jobs.add(queue, [newJob({ id, data: { of: id }, attempts: 2, backoffMs: 10 })]);
      await eventually(async () => expect((await jobs.failed(queue, { limit: 10, offset: 0 }))[0]?.id).toBe(id));
    }
    expect(runs.length).toBe(6);
    const failed = await jobs.failed(queue, { limit: 10, offset: 0 });
    expect(failed).toMatchObject(
      ['c', 'b', 'a'].map((id) => ({ id, data: { of: id }, attempt: 2, reason: `cannot do ${id}` })),
    );
    for (const { failedAt } of failed) expect(Math.abs(failedAt - started)).toBeLessThan(slowTestMs);
    expect((await jobs.failed(queue, { limit: 1, offset: 1 })).map(({ id }) => id)).toEqual(['b']);
    expect(await jobs.failed(queue, { limit: 5, offset: 3 })).toEqual([]);
    await jobs.add(queue, [newJob({ id: 'a' })]);
    expect(await jobs.counts(queue)).toEqual({ waiting: 0, delayed: 0, active: 0, failed: 3 });
  });

  test('a retried failed job has all its attempts', async () => {
    const jobs = await open();
    let succeeds = false;
    const { runs } = await collect(jobs, queue, {
      run: () => (succeeds ? Promise.resolve() : Promise.reject(new Error('ill'))),
    });
    await jobs.add(queue, [newJob({ id: 'patient', attempts: 2, backoffMs: 10 })]);
    await eventually(async () => expect(await jobs.counts(queue)).toMatchObject({ failed: 1 }));
    expect(await jobs.retryFailed(queue, 'patient')).toBe(true);
    await eventually(() => runs.length === 4);
    await eventually(async () =>
      expect(await jobs.counts(queue)).toEqual({ waiting: 0, delayed: 0, active: 0, failed: 1 }),
    );
    succeeds = true;
    expect(await jobs.retryFailed(queue, 'patient')).toBe(true);
    await eventually(() => runs.length === 5);
    await waitUntilIdle(jobs, queue);
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 1, 2, 1]);
    expect(await jobs.failed(queue, { limit: 10, offset: 0 })).toEqual([]);
    expect(await jobs.retryFailed(queue, 'patient')).toBe(false);
    expect(await jobs.retryFailed(queue, 'nobody')).toBe(false);
  });

  test('RetryLater retries after its delay without using up an attempt', async () => {
    const jobs = await open();
    let times = 0;
    const { runs } = await collect(jobs, queue, {
      run: () =>
        ++times <= 3 ? Promise.reject(new RetryLater(250.5, 'the provider asks to wait')) : Promise.resolve(),
    });
    await jobs.add(queue, [newJob({ attempts: 1 })]);
    await eventually(() => runs.length === 4);
    await waitUntilIdle(jobs, queue);
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
    for (let n = 1; n < 4; n += 1) expect(runs[n]!.at - runs[n - 1]!.at).toBeGreaterThanOrEqual(245);
    expect(await jobs.counts(queue)).toMatchObject({ failed: 0 });
  });

  test('Discard fails the job immediately, regardless of remaining attempts', async () => {
    const jobs = await open();
    const { runs } = await collect(jobs, queue, { run: () => Promise.reject(new Discard('the device was removed')) });
    await jobs.add(queue, [newJob({ id: 'vain', attempts: 10, backoffMs: 1 })]);
    await eventually(async () => {
      expect(await jobs.failed(queue, { limit: 10, offset: 0 })).toMatchObject([
        { id: 'vain', attempt: 1, reason: 'the device was removed' },
      ]);
    });
    await waitUntilIdle(jobs, queue);
    expect(runs.length).toBe(1);
  });

  test('a run that throws synchronously, or throws a non-error, has failed', async () => {
    const jobs = await open();
    await collect(jobs, queue, {
      run: ({ id }) => {
        if (id === 'thrown') throw new Error('at once');
        return Promise.reject('just text');
      },
    });
    await jobs.add(queue, [newJob({ id: 'thrown', attempts: 1 }), newJob({ id: 'text', attempts: 1 })]);
    await eventually(async () => {
      const failed = await jobs.failed(queue, { limit: 10, offset: 0 });
      expect(new Map(failed.map(({ id, reason }) => [id, reason]))).toEqual(
        new Map([
          ['thrown', 'at once'],
          ['text', 'just text'],
        ]),
      );
    });
  });
}
