/**
 * Durable job queues with any number of workers.
 *
 * Guarantees: an added job runs at least once, even after SIGKILL of a worker (its lease ends, and another worker takes
 * over within 15 seconds); retries, delays and schedules are durable; a schedule fires once per slot across replicas.
 * Jobs contain IDs, but no message text, tokens or addresses, because operators can read the queue.
 */
export interface JobQueue {
  /**
   * Stores jobs, atomically if the engine supports it, and resolves once they are durable. Ignores jobs with a known ID
   * (waiting, running, listed as failed, or finished within a day). A driver may forget finished jobs after 100,000
   * later ones. IDs: letters, digits, `-`, `_`, `.`; not only digits. Throws AppError `unavailable` within two seconds
   * if the queue is unreachable.
   */
  add(queue: string, jobs: readonly NewJob[]): Promise<void>;

  /**
   * Whether callers may add jobs for work that can wait elsewhere, such as records of the log. False while the engine
   * needs its remaining memory to process the jobs that it has. At most 50 ms old.
   */
  hasRoom(): Promise<boolean>;

  /** Starts a worker that runs up to `concurrency` jobs at a time: lower priority numbers first, then oldest first. */
  work(queue: string, options: WorkOptions): Promise<Worker>;

  /**
   * Creates or replaces a schedule. At each slot, the replicas with a worker on the queue add one job `<id>.<slot>`
   * with the schedule's data. Slots are milliseconds since the epoch: multiples of the interval, or matches of the cron
   * expression. Slots without a running worker are skipped. Schedules are stored until `unschedule`; other replicas
   * notice a change within five seconds.
   */
  schedule(queue: string, schedule: Schedule): Promise<void>;
  unschedule(queue: string, id: string): Promise<void>;

  counts(queue: string): Promise<JobCounts>;

  /**
   * Returns jobs without remaining attempts and discarded jobs, newest first. Kept for 30 days, at most 10,000 per
   * queue.
   */
  failed(queue: string, page: { limit: number; offset: number }): Promise<FailedJob[]>;

  /** Retries a failed job with all its attempts; resolves with whether it existed. */
  retryFailed(queue: string, id: string): Promise<boolean>;

  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The data of a job: plain JSON. */
export type JobData = { readonly [key: string]: unknown };

export interface NewJob {
  readonly id: string;
  readonly data: JobData;
  /** The delay before the first run. */
  readonly delayMs?: number;
  /** 1 (first) to 100; default 50. */
  readonly priority?: number;
  /** The number of runs before the job fails. Default 10. */
  readonly attempts?: number;
  /** The pause after the n-th failed run is `backoffMs × 2^(n-1)`, at most an hour. Default 1,000. */
  readonly backoffMs?: number;
  /** False for an ID that is never added again: the queue may forget the job when it finishes. Default true. */
  readonly isRemembered?: boolean;
}

export interface Job {
  readonly id: string;
  readonly data: JobData;
  /** 1 for the first run. */
  readonly attempt: number;
}

export interface WorkOptions {
  readonly concurrency: number;
  /** Runs a job. A rejection is a failed run: the job is retried after its backoff. See also RetryLater and Discard. */
  readonly run: (job: Job) => Promise<void>;
  /** The lease of a running job, renewed automatically while the process lives. Default 10 s. */
  readonly leaseMs?: number;
}

export interface Worker {
  /**
   * Stops claiming jobs and waits at most `graceMs` (default 10 s) for running ones. Other workers take over the rest.
   */
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

/** Thrown by a run to retry after the delay (rounded up to whole milliseconds) without using an attempt. */
export class RetryLater extends Error {
  readonly delayMs: number;
  constructor(delayMs: number, reason: string) {
    super(reason);
    this.name = 'RetryLater';
    this.delayMs = Math.ceil(delayMs);
  }
}

/** Thrown by a run to fail the job immediately, because no retry can succeed. */
export class Discard extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'Discard';
  }
}
