import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { eventually } from '../../testing/eventually.ts';
import type { Child } from '../../testing/start-child.ts';
import type { ChildTask } from './job-queue.child.ts';
import type { Job, JobQueue, NewJob, WorkOptions } from '../../ports/job-queue.ts';

/** The fixture of the suite's parts: a unique queue in a unique place. */
export interface Stage {
  readonly queue: string;
  open(clock?: () => number): Promise<JobQueue>;
  startChild(task: Pick<ChildTask, 'runs' | 'leaseMs' | 'clockAheadMs'>): Child;
}

/** Long enough for a default lease to end. */
export const slowTestMs = 180_000;

/** A job with a unique ID. */
export const newJob = (changes: Partial<NewJob> = {}): NewJob => ({
  id: `job-${randomUUID()}`,
  data: { topic_id: 'topic-1' },
  ...changes,
});

export const newJobs = (count: number, changes: Partial<NewJob> = {}): NewJob[] =>
  Array.from({ length: count }, () => newJob(changes));

/** A worker that records its runs with the time, and then calls the given function. */
export async function collect(jobs: JobQueue, queue: string, options: Partial<WorkOptions> = {}) {
  const runs: (Job & { at: number })[] = [];
  const { run = () => Promise.resolve(), ...rest } = options;
  const worker = await jobs.work(queue, {
    concurrency: 10,
    ...rest,
    run: (job) => {
      runs.push({ ...job, at: Date.now() });
      return run(job);
    },
  });
  return { worker, runs, ids: () => runs.map(({ id }) => id) };
}

/** Waits until all added jobs have ended. */
export const waitUntilIdle = async (jobs: JobQueue, queue: string): Promise<void> => {
  await eventually(async () => expect(await jobs.counts(queue)).toMatchObject({ waiting: 0, delayed: 0, active: 0 }));
};

/** Returns `wait`, which blocks runs, and `open`, which releases them. */
export const gate = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: () => promise, open: resolve };
};
