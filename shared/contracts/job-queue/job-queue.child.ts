// Runs as a process that the contract suite kills. Its argument is a ChildTask as JSON.
// Prints a line of JSON for each started run, and one when it is ready.
import { writeSync } from 'node:fs';
import type { JobQueue } from '../../ports/job-queue.ts';

/** The task of the child. */
export interface ChildTask {
  /** The module whose `openJobQueueAt(address, clock)` opens the queue. */
  readonly module: string;
  readonly address: string;
  readonly queue: string;
  /** How runs end: immediately or never. */
  readonly runs: 'end' | 'hang';
  readonly leaseMs?: number;
  /** How far the child's clock is ahead. */
  readonly clockAheadMs?: number;
}

const task = JSON.parse(process.argv[2]!) as ChildTask;
const { openJobQueueAt } = (await import(task.module)) as {
  openJobQueueAt: (address: string, clock: () => number) => Promise<JobQueue>;
};

/** Writes synchronously to the pipe, so that the output is complete before the process can die. */
const print = (value: unknown): void => void writeSync(1, `${JSON.stringify(value)}\n`);

const jobs = await openJobQueueAt(task.address, () => Date.now() + (task.clockAheadMs ?? 0));
await jobs.work(task.queue, {
  concurrency: 5,
  leaseMs: task.leaseMs,
  run: ({ id, attempt }) => {
    print({ id, attempt });
    return task.runs === 'hang' ? new Promise(() => {}) : Promise.resolve();
  },
});
print('ready');
