import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import { settledWithin } from '../../../async/settled-within.ts';
import { Discard, RetryLater, type Worker, type WorkOptions } from '../../../ports/job-queue.ts';
import { failureReason, jobRules, retryPauseMs } from '../../job-rules.ts';
import type { JobLeases, Lease } from './job-leases.ts';
import type { ClaimedJob, JobTable } from './job-table.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

export interface SqliteJobWorkerDeps {
  readonly file: SqliteFile;
  readonly table: JobTable;
  readonly leases: JobLeases;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with the time at which a job of this queue may be ready. */
  readonly onReady: (at: number) => void;
}

/** The interval at which jobs added by other processes are noticed. */
const pollMs = 1_000;

interface Running {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  readonly done: Promise<void>;
}

/**
 * Claims ready jobs of one queue and runs them. The outcome of a run and the next claim share a group commit. When
 * idle, polls once per second and when the next delayed job is due.
 */
export class SqliteJobWorker implements Worker {
  readonly #queue: string;
  readonly #options: WorkOptions;
  readonly #deps: SqliteJobWorkerDeps;
  readonly #leaseMs: number;
  readonly #leaseTimer: NodeJS.Timeout;
  readonly #running = new Set<Running>();
  /** The number of running jobs. `#running` also contains ended runs whose outcome is not yet on disk. */
  #busy = 0;
  #claiming: Promise<void> | undefined;
  /** False once a claim returned fewer jobs than requested, until a job may be ready again. */
  #mayHaveReadyJobs = true;
  #wakeTimer: NodeJS.Timeout | undefined;
  #wakeAt = Infinity;
  #closing: Promise<void> | undefined;

  constructor(queue: string, options: WorkOptions, deps: SqliteJobWorkerDeps) {
    this.#queue = queue;
    this.#options = options;
    this.#deps = deps;
    this.#leaseMs = options.leaseMs ?? jobRules.leaseMsDefault;
    this.#leaseTimer = setInterval(() => void this.#renewLeases(), this.#leaseMs / 3);
    this.#claimIfIdle();
  }

  /** Schedules the next poll. */
  wakeAt(at: number): void {
    if (this.#closing !== undefined || at >= this.#wakeAt) return;
    const waitMs = at - this.#deps.clock();
    clearTimeout(this.#wakeTimer);
    this.#wakeAt = Infinity;
    if (waitMs <= 0) return this.#wake();
    this.#wakeAt = at;
    this.#wakeTimer = setTimeout(() => this.#wake(), Math.min(waitMs, pollMs));
  }

  readonly #wake = (): void => {
    clearTimeout(this.#wakeTimer);
    this.#wakeAt = Infinity;
    this.#mayHaveReadyJobs = true;
    this.#claimIfIdle();
  };

  #claimIfIdle(): void {
    const free = this.#options.concurrency - this.#busy;
    if (free <= 0 || !this.#mayHaveReadyJobs || this.#claiming !== undefined || this.#closing !== undefined) return;
    this.#mayHaveReadyJobs = false; // until a job arrives or the claim returns as many jobs as requested
    this.#claiming = this.#claim(free).finally(() => {
      this.#claiming = undefined;
      this.#claimIfIdle();
    });
  }

  /** Does not throw. If the file is not writable, retries after a second. */
  async #claim(limit: number): Promise<void> {
    const { file, table, leases, clock, log, onReady } = this.#deps;
    try {
      const { jobs, leaseEndsAt, nextDueAt } = await file.write(() => {
        const now = clock();
        leases.renew(now);
        table.release(this.#queue, now);
        const claimed = table.claim(this.#queue, now + this.#leaseMs, limit);
        return {
          jobs: claimed,
          leaseEndsAt: now + this.#leaseMs,
          nextDueAt: claimed.length < limit ? table.nextDueAt(this.#queue) : null,
        };
      });
      if (this.#closing !== undefined && jobs.length > 0) {
        await file.write(() => jobs.forEach((job) => table.requeue(job)));
        return onReady(clock());
      }
      for (const job of jobs) this.#start(job, leaseEndsAt);
      if (jobs.length === limit) this.#mayHaveReadyJobs = true;
      else this.wakeAt(Math.min(nextDueAt ?? Infinity, clock() + pollMs));
    } catch (error) {
      log.error({ err: error, queue: this.#queue }, 'jobs could not be claimed');
      this.wakeAt(clock() + pollMs);
    }
  }

  #start(job: ClaimedJob, leaseEndsAt: number): void {
    const lease = this.#deps.leases.hold(job, this.#leaseMs, leaseEndsAt);
    this.#busy += 1;
    const done = this.#run(job, lease).finally(() => {
      this.#deps.leases.drop(lease);
      this.#running.delete(running);
    });
    const running = { job, lease, done };
    this.#running.add(running);
  }

  async #run(job: ClaimedJob, lease: Lease): Promise<void> {
    const { file, clock, log, onReady } = this.#deps;
    let outcome: RunOutcome;
    try {
      await this.#options.run({ id: job.id, data: job.data, attempt: job.failedRuns + 1 });
      outcome = { kind: 'done' };
    } catch (error) {
      outcome = outcomeOfError(error, job, clock());
    }
    const writing = file.write(() => this.#write(outcome, lease));
    this.#busy -= 1;
    this.#claimIfIdle();
    try {
      const wasHeld = await writing;
      if (!wasHeld) log.warn({ queue: this.#queue, job: job.id }, 'a job ended after its lease expired, it runs again');
      else if (outcome.kind === 'postponed') onReady(outcome.until);
    } catch (error) {
      log.error(
        { err: error, queue: this.#queue, job: job.id },
        'the outcome of a job could not be stored, it runs again',
      );
    }
  }

  #write(outcome: RunOutcome, lease: Lease): boolean {
    const { table, clock } = this.#deps;
    switch (outcome.kind) {
      case 'done':
        return table.finish(lease, clock());
      case 'failed':
        return table.fail(lease, { failedRuns: outcome.failedRuns, reason: outcome.reason, now: clock() });
      case 'postponed':
        return table.postpone(lease, outcome.until, outcome.failedRuns);
    }
  }

  async #renewLeases(): Promise<void> {
    const { file, leases, clock, log } = this.#deps;
    if (!leases.hasDue(clock())) return;
    try {
      await file.write(() => leases.renew(clock()));
    } catch (error) {
      log.error({ err: error, queue: this.#queue }, 'leases of jobs could not be renewed');
    }
  }

  close(graceMs: number = jobRules.graceMsDefault): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  async #close(graceMs: number): Promise<void> {
    const { file, table, leases, log, clock, onReady } = this.#deps;
    clearTimeout(this.#wakeTimer);
    await this.#claiming;
    await settledWithin(
      graceMs,
      [...this.#running].map(({ done }) => done),
    );
    clearInterval(this.#leaseTimer);
    const left = [...this.#running];
    if (left.length === 0) return;
    for (const { lease } of left) leases.drop(lease);
    log.warn(
      { queue: this.#queue, jobs: left.length },
      'worker closed while jobs were running, other workers take over',
    );
    await file.write(() => left.forEach(({ lease }) => table.requeue(lease)));
    onReady(clock());
  }
}

/** The outcome of a run. */
type RunOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failedRuns: number; readonly reason: string }
  | { readonly kind: 'postponed'; readonly until: number; readonly failedRuns: number };

function outcomeOfError(error: unknown, job: ClaimedJob, now: number): RunOutcome {
  const reason = failureReason(error);
  if (error instanceof RetryLater && job.starts < jobRules.startsMax) {
    return { kind: 'postponed', until: now + error.delayMs, failedRuns: job.failedRuns };
  }
  const failedRuns = job.failedRuns + 1;
  const isFinal = error instanceof Discard || error instanceof RetryLater || failedRuns >= job.attempts;
  if (isFinal) return { kind: 'failed', failedRuns, reason };
  return { kind: 'postponed', until: now + retryPauseMs(job.backoffMs, failedRuns), failedRuns };
}
