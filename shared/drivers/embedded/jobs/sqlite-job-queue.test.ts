import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openLogger } from '../../../platform/logger.ts';
import { jobQueueContract } from '../../../contracts/job-queue/job-queue.contract.ts';
import { collect, newJob, newJobs, waitUntilIdle } from '../../../contracts/job-queue/job-queue.fixtures.ts';
import { RetryLater, type JobQueue } from '../../../ports/job-queue.ts';
import { eventually } from '../../../testing/eventually.ts';
import { checkedJob } from '../../job-rules.ts';
import { JobTable, jobsMigration } from './job-table.ts';
import { migrate } from '../sqlite/migrations.ts';
import { newSqliteQueuePlace } from './sqlite-job-queue.place.ts';
import { openSqliteJobQueue } from './sqlite-job-queue.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';

jobQueueContract('sqlite', newSqliteQueuePlace);

const queue = 'errands';
const dayMs = 86_400_000;

describe('sqlite: the job queue in a shared file', () => {
  let directory: string;
  let file: SqliteFile;
  let now: number;
  let jobs: JobQueue;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tocsin-queue-'));
    file = new SqliteFile(join(directory, 'test.db'));
    migrate(file, [jobsMigration]);
    now = Date.UTC(2026, 0, 1);
    jobs = openSqliteJobQueue({ file, clock: () => now, log: openLogger('test', 'silent') });
  });
  afterEach(async () => {
    await jobs.close();
    file.close();
    rmSync(directory, { recursive: true });
  });

  test('a process that stalled longer than its leases does not run its own jobs twice', async () => {
    const ending = Promise.withResolvers<void>();
    const workers = [
      await collect(jobs, queue, { leaseMs: 1_000, run: () => ending.promise }),
      await collect(jobs, queue, { leaseMs: 1_000, run: () => ending.promise }),
    ];
    await jobs.add(queue, newJobs(3));
    await eventually(() => workers.flatMap(({ ids }) => ids()).length === 3);
    now += 5_000; // as if the process had stalled
    await jobs.add(queue, newJobs(1));
    await eventually(() => workers.flatMap(({ ids }) => ids()).length === 4);
    ending.resolve();
    await waitUntilIdle(jobs, queue);
    expect(new Set(workers.flatMap(({ ids }) => ids())).size).toBe(4);
  });

  test('repeats a claim and an outcome that were rolled back because of other work', async () => {
    const { runs } = await collect(jobs, queue, {
      concurrency: 2,
      run: () => {
        void file
          .write(() => {
            throw new Error('an error of other work');
          })
          .catch(() => undefined);
        return Promise.resolve();
      },
    });
    await jobs.add(queue, newJobs(40));
    await waitUntilIdle(jobs, queue);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(40);
    expect(runs.length).toBe(40);
  });

  test('runs thousands of simultaneously due jobs once each', async () => {
    const { ids } = await collect(jobs, queue, { concurrency: 50 });
    const added = newJobs(2_500, { delayMs: 10_000 });
    await jobs.add(queue, added);
    await eventually(async () => expect(await jobs.counts(queue)).toMatchObject({ delayed: 2_500 }));
    now += 10_000;
    await eventually(() => ids().length >= 2_500);
    await waitUntilIdle(jobs, queue);
    expect(new Set(ids())).toEqual(new Set(added.map(({ id }) => id)));
    expect(ids().length).toBe(2_500);
  });

  test('limits a pause between runs to an hour', async () => {
    const { runs } = await collect(jobs, queue, { run: () => Promise.reject(new Error('no')) });
    await jobs.add(queue, [newJob({ attempts: 20, backoffMs: 3_000_000 })]);
    for (let run = 1; run <= 3; run += 1) {
      await eventually(() => runs.length === run);
      await eventually(async () => expect(await jobs.counts(queue)).toMatchObject({ delayed: 1 }));
      now += 3_600_000;
    }
  });

  test('fails a job that is postponed too often', async () => {
    await jobs.add(queue, [newJob({ id: 'endless' })]);
    file.db.exec('UPDATE jobs SET starts = 9990');
    const { runs } = await collect(jobs, queue, { run: () => Promise.reject(new RetryLater(0, 'not yet')) });
    await eventually(async () =>
      expect(await jobs.failed(queue, { limit: 1, offset: 0 })).toMatchObject([{ id: 'endless', reason: 'not yet' }]),
    );
    expect(runs.length).toBe(10);
  });
});

describe('sqlite: rows of jobs', () => {
  let directory: string;
  let file: SqliteFile;
  let table: JobTable;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'tocsin-jobs-'));
    file = new SqliteFile(join(directory, 'test.db'));
    migrate(file, [jobsMigration]);
    table = new JobTable(file.db);
  });
  afterEach(() => {
    file.close();
    rmSync(directory, { recursive: true });
  });

  const ids = () =>
    file.db
      .prepare('SELECT id FROM jobs ORDER BY seq')
      .all()
      .map(({ id }) => String(id));
  const add = (...names: string[]) =>
    table.insert(
      queue,
      names.map((id) => checkedJob({ id, data: {} })),
      0,
    );
  const take = (at: number) => table.claim(queue, at + 1_000, 1)[0]!;
  const sweepAll = (at: number) => {
    while (table.sweep(at));
  };

  test('deletes finished jobs after a day, failed ones after thirty, and no others', () => {
    add('done', 'failed', 'waiting');
    table.finish(take(0), 1_000);
    table.fail(take(0), { failedRuns: 1, reason: 'no', now: 1_000 });
    sweepAll(dayMs);
    expect(ids()).toEqual(['done', 'failed', 'waiting']);
    sweepAll(dayMs + 1_000);
    expect(ids()).toEqual(['failed', 'waiting']);
    sweepAll(30 * dayMs + 1_000);
    expect(ids()).toEqual(['waiting']);
  });

  test('deletes the oldest of more than ten thousand failed jobs of a queue', async () => {
    await file.write(() => {
      for (let n = 0; n < 10_700; n += 1) {
        add(`job-${n}`);
        table.fail(take(n), { failedRuns: 1, reason: 'no', now: n });
      }
    });
    sweepAll(20_000);
    expect(table.counts(queue).failed).toBe(10_000);
    expect(table.failed(queue, { limit: 1, offset: 9_999 })).toMatchObject([{ id: 'job-700' }]);
  });

  test('forgets a finished job after a million others', () => {
    add('done', 'waiting');
    table.finish(take(0), 1_000);
    file.db.exec("UPDATE jobs SET seq = 1000000 WHERE id = 'waiting'");
    sweepAll(2_000);
    expect(ids()).toEqual(['done', 'waiting']);
    file.db.exec("UPDATE jobs SET seq = 1000001 WHERE id = 'waiting'");
    sweepAll(2_000);
    expect(ids()).toEqual(['waiting']);
  });

  test('fails a job whose lease was lost a hundred times', () => {
    add('poison');
    for (let at = 0, taken = 0; taken <= 100; taken += 1, at += 2_000) {
      expect(table.counts(queue).failed).toBe(0);
      take(at);
      table.release(queue, at + 2_000);
    }
    expect(table.failed(queue, { limit: 1, offset: 0 })).toMatchObject([{ id: 'poison', attempt: 1 }]);
  });

  test('a run with a lost lease cannot end another run', () => {
    add('job');
    const lost = take(0);
    table.release(queue, 5_000);
    const held = take(5_000);
    expect(table.renew(lost, 9_000)).toBe(false);
    expect(table.finish(lost, 5_500)).toBe(false);
    expect(table.requeue(lost)).toBe(false);
    expect(table.finish(held, 5_600)).toBe(true);
  });
});
