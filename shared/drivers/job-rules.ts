import type { JobData, NewJob, Schedule } from '../ports/job-queue.ts';

/** A job with defaults for optional fields. */
export interface CheckedJob {
  readonly id: string;
  readonly data: JobData;
  readonly delayMs: number;
  readonly priority: number;
  readonly attempts: number;
  readonly backoffMs: number;
  readonly isRemembered: boolean;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export const jobRules = {
  /** The longest pause between two runs. */
  backoffMsMax: hourMs,
  leaseMsDefault: 10_000,
  graceMsDefault: 10_000,
  /** How long the ID of a finished job is remembered, within the engine's limits. */
  finishedLifeMs: dayMs,
  failedLifeMs: 30 * dayMs,
  failedMax: 10_000,
  /** Lost leases after which a job fails, so that a job that kills its process is not retried forever. */
  lostLeasesMax: 100,
  /** Runs after which RetryLater fails the job, so that it is not retried forever. */
  startsMax: 10_000,
  reasonLengthMax: 1_000,
} as const;

const idPattern = /^(?!\d+$)[A-Za-z0-9._-]{1,200}$/;

/** Returns the job with its defaults. Throws RangeError for invalid values, which are programming errors. */
export function checkedJob({
  id,
  data,
  delayMs = 0,
  priority = 50,
  attempts = 10,
  backoffMs = 1_000,
  isRemembered = true,
}: NewJob): CheckedJob {
  checkId(id);
  if (!Number.isInteger(priority) || priority < 1 || priority > 100)
    throw new RangeError(`a job's priority must be 1 to 100, got ${priority}`);
  if (!Number.isInteger(attempts) || attempts < 1)
    throw new RangeError(`a job must have at least one attempt, got ${attempts}`);
  if (!(delayMs >= 0) || !(backoffMs >= 0)) throw new RangeError("a job's delay and backoff must not be negative");
  return { id, data, delayMs: Math.ceil(delayMs), priority, attempts, backoffMs, isRemembered };
}

export function checkId(id: string): void {
  if (!idPattern.test(id)) throw new RangeError(`invalid ID of a job or schedule: ${id}`);
}

/** Returns the job of a schedule's slot. Its ID is the same on every replica, so that it is added once. */
export const slotJob = ({ id, data }: Schedule, slot: number): NewJob => ({ id: `${id}.${slot}`, data });

/** Returns the pause after the n-th failed run, in milliseconds. */
export const retryPauseMs = (backoffMs: number, failedRuns: number): number =>
  Math.min(Math.round(backoffMs * 2 ** (failedRuns - 1)), jobRules.backoffMsMax);

/** Returns the reason of a failed run for the operator. */
export function failureReason(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, jobRules.reasonLengthMax);
}
