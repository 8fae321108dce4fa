import { DelayedError, UnrecoverableError, Worker as BullmqWorker, type Job as BullmqJob } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Logger } from '../../../platform/logger.ts';
import { settledWithin } from '../../../async/settled-within.ts';
import { Discard, RetryLater, type JobData, type Worker, type WorkOptions } from '../../../ports/job-queue.ts';
import { failureReason, jobRules, retryPauseMs } from '../../job-rules.ts';

export interface BullmqJobWorkerOptions extends WorkOptions {
  readonly queue: string;
  readonly prefix: string;
  /**
   * Shared by the workers of the process, which do not close it. Each worker opens another connection for blocking
   * commands.
   */
  readonly redis: Redis;
  readonly log: Logger;
}

/** The pause after a failed command. With the default of 15 s, leases would end during a short outage. */
const retryDelayMs = 1_000;

/**
 * Limits the memory of remembered jobs in Redis. This many take about 140 MB, because jobs with many targets are not
 * remembered.
 */
const finishedMax = 100_000;

/**
 * Checks for lost leases per lease: the job of a killed worker waits at most 1 ¼ leases.
 */
const checksPerLease = 4;

const secondsOf = (ms: number): number => Math.ceil(ms / 1_000);

/** Time limit for closing an idle worker, which would never close without Redis. */
const leaveTimeoutMs = 2_000;

class LeavingWorker extends BullmqWorker<JobData> {
  /** Stops renewing leases. */
  async dropLeases(): Promise<void> {
    await this.lockManager.close();
  }
}

/** Runs the jobs of one queue with BullMQ. */
export class BullmqJobWorker implements Worker {
  readonly #worker: LeavingWorker;
  readonly #options: BullmqJobWorkerOptions;
  /** Running jobs with the tokens of their leases. */
  readonly #running = new Map<BullmqJob<JobData>, string>();
  #closing: Promise<void> | undefined;

  constructor(options: BullmqJobWorkerOptions) {
    const { queue, prefix, redis, concurrency, log, leaseMs = jobRules.leaseMsDefault } = options;
    this.#options = options;
    this.#worker = new LeavingWorker(queue, (job, token) => this.#run(job, token!), {
      connection: redis,
      prefix,
      concurrency,
      lockDuration: leaseMs,
      stalledInterval: leaseMs / checksPerLease,
      maxStalledCount: jobRules.lostLeasesMax,
      runRetryDelay: retryDelayMs,
      removeOnComplete: { age: secondsOf(jobRules.finishedLifeMs), count: finishedMax },
      removeOnFail: { age: secondsOf(jobRules.failedLifeMs), count: jobRules.failedMax },
      settings: { backoffStrategy: (failedRuns, _type, _error, job) => retryPauseMs(backoffMsOf(job), failedRuns) },
    });
    this.#worker.on('error', (error) => {
      // The connection logs its own loss once; this would log each retry.
      log[isConnectionError(error) ? 'debug' : 'warn']({ err: error, queue }, 'job worker error');
    });
  }

  async #run(job: BullmqJob<JobData>, token: string): Promise<void> {
    this.#running.set(job, token);
    try {
      await this.#options.run({ id: job.id!, data: job.data, attempt: job.attemptsMade + 1 });
    } catch (error) {
      throw await this.#failure(error, job, token);
    } finally {
      this.#running.delete(job);
    }
  }

  /** Maps the error of a run to BullMQ's errors. */
  async #failure(error: unknown, job: BullmqJob<JobData>, token: string): Promise<Error> {
    const reason = failureReason(error);
    if (error instanceof Discard) return new UnrecoverableError(reason);
    if (!(error instanceof RetryLater)) return new Error(reason);
    if (job.attemptsStarted >= jobRules.startsMax) return new UnrecoverableError(reason);
    await job.moveToDelayed(Date.now() + error.delayMs, token);
    return new DelayedError();
  }

  close(graceMs: number = jobRules.graceMsDefault): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  async #close(graceMs: number): Promise<void> {
    const closed = this.#worker.close();
    closed.catch(() => undefined); // ends with the last run
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, this.#running.size > 0 ? graceMs : Math.min(graceMs, leaveTimeoutMs));
    await Promise.race([closed, limit.promise]);
    clearTimeout(timer);
    await this.#worker.dropLeases();
    if (this.#running.size > 0) await this.#releaseLeases();
  }

  /** Releases the leases of running jobs, so that other workers need not wait for them to expire. */
  async #releaseLeases(): Promise<void> {
    const { log, queue } = this.#options;
    log.warn({ queue, jobs: this.#running.size }, 'worker closed while jobs were running, other workers take over');
    const left = [...this.#running].map(([job, token]) => job.moveToWait(token));
    await settledWithin(leaveTimeoutMs, left);
  }
}

const isConnectionError = (error: Error): boolean =>
  'syscall' in error || error.message.startsWith('Connection is closed');

const backoffMsOf = (job: { opts?: { backoff?: number | { delay?: number } } } | undefined): number => {
  const backoff = job?.opts?.backoff;
  return (typeof backoff === 'object' ? backoff.delay : backoff) ?? 0;
};
