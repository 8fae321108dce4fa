/**
 * Work to be done later, by one of many workers.
 *
 * Guarantees: a job that `add` resolved for is run at least once, over SIGKILL of any worker (its lease ends, another
 * worker takes it, within 15 seconds); retries, delays and schedules are kept; a schedule fires once per slot across
 * replicas. Jobs carry ids, never message text, tokens or addresses: what a queue stores can be read by its operator.
 */
export interface JobQueue {
  /**
   * Stores jobs, all in one step where the engine can, and resolves once they are durable. A job whose id the queue
   * has seen (waiting, running, failed and listed, or finished within a day) is left out; of finished ones a driver may
   * forget those that 100,000 others came after. Ids: letters, digits, `-`, `_`, `.`; not only digits.
   * Throws AppError `unavailable` within two seconds when the queue cannot be reached.
   */
  add(queue: string, jobs: readonly NewJob[]): Promise<void>;

  /** Starts a worker; jobs run `concurrency` at a time, lower priority numbers first, then in order of arrival. */
  work(queue: string, options: WorkOptions): Promise<Worker>;

  /**
   * Makes or replaces a schedule: a job `<id>.<slot>` with its data is added at each slot, once over all replicas, by
   * those that have a worker on the queue. Slots are milliseconds since the epoch: multiples of the interval, or what the
   * cron expression matches. One that passed while nobody worked is not made up for. Schedules are kept until
   * `unschedule`; a change is known to other replicas within a second.
   */
  schedule(queue: string, schedule: Schedule): Promise<void>;
  unschedule(queue: string, id: string): Promise<void>;

  counts(queue: string): Promise<JobCounts>;

  /** Jobs that used up their attempts or were discarded, newest first. Kept for 30 days, at most 10,000 a queue. */
  failed(queue: string, page: { limit: number; offset: number }): Promise<FailedJob[]>;

  /** Puts a failed job back with all its attempts; resolves with whether it was there. */
  retryFailed(queue: string, id: string): Promise<boolean>;

  ping(): Promise<void>;
  close(): Promise<void>;
}

/** What a job carries: plain JSON. */
export type JobData = { readonly [key: string]: unknown };

export interface NewJob {
  readonly id: string;
  readonly data: JobData;
  /** Not before this many milliseconds have passed. */
  readonly delayMs?: number;
  /** 1 (first) to 100; default 50. */
  readonly priority?: number;
  /** Runs before the job counts as failed. Default 10. */
  readonly attempts?: number;
  /** The pause after the n-th failed run is `backoffMs × 2^(n-1)`, at most an hour. Default 1,000. */
  readonly backoffMs?: number;
}

export interface Job {
  readonly id: string;
  readonly data: JobData;
  /** 1 for the first run. */
  readonly attempt: number;
}

export interface WorkOptions {
  readonly concurrency: number;
  /** Runs a job. A rejection is a failed run: the job is tried again after its backoff, see also RetryLater and Discard. */
  readonly run: (job: Job) => Promise<void>;
  /** How long a job is this worker's without a sign of life; renewed by itself while the process lives. Default 10 s. */
  readonly leaseMs?: number;
}

export interface Worker {
  /** Takes no further jobs and waits for the running ones, `graceMs` (default 10 s) at most; those still running are then taken by others. */
  close(graceMs?: number): Promise<void>;
}

export interface Schedule {
  readonly id: string;
  /** Milliseconds between slots, or a cron expression of five fields in UTC. */
  readonly every: number | string;
  readonly data: JobData;
}

export interface JobCounts {
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  readonly failed: number;
}

export interface FailedJob extends Job {
  readonly reason: string;
  readonly failedAt: number;
}

/** Thrown by a run: try again after the delay, rounded up to whole milliseconds, without using up an attempt. */
export class RetryLater extends Error {
  readonly delayMs: number;
  constructor(delayMs: number, reason: string) {
    super(reason);
    this.name = 'RetryLater';
    this.delayMs = Math.ceil(delayMs);
  }
}

/** Thrown by a run: no retry can help, the job is failed at once. */
export class Discard extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'Discard';
  }
}
