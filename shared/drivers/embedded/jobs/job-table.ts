import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { FailedJob, JobCounts, JobData } from '../../../ports/job-queue.ts';
import { jobRules, type CheckedJob } from '../../job-rules.ts';
import type { Migration } from '../sqlite/migrations.ts';

/**
 * The jobs of all queues. `state`: 0 ready, 1 delayed, 2 active, 3 done, 4 failed. `due_at`: when a delayed job may
 * run, when the lease of an active job ends, when a finished job ended. `starts` increases with each run, so that a run
 * with a lost lease cannot change the job of the next run.
 */
export const jobsMigration: Migration = {
  name: 'jobs',
  sql: `CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    id TEXT NOT NULL,
    data TEXT NOT NULL,
    state INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    starts INTEGER NOT NULL DEFAULT 0,
    failed_runs INTEGER NOT NULL DEFAULT 0,
    lost_leases INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL,
    backoff_ms REAL NOT NULL,
    reason TEXT
  ) STRICT;
  CREATE UNIQUE INDEX jobs_id ON jobs (queue, id);
  CREATE INDEX jobs_ready ON jobs (queue, priority) WHERE state = 0;
  CREATE INDEX jobs_due ON jobs (queue, due_at, state) WHERE state IN (1, 2);
  CREATE INDEX jobs_done ON jobs (due_at) WHERE state = 3;
  CREATE INDEX jobs_failed ON jobs (queue, due_at) WHERE state = 4;
  CREATE TABLE job_schedules (
    queue TEXT NOT NULL,
    id TEXT NOT NULL,
    every TEXT NOT NULL,
    data TEXT NOT NULL,
    defined_at INTEGER NOT NULL,
    PRIMARY KEY (queue, id)
  ) STRICT, WITHOUT ROWID;`,
};

/** Jobs per step, so that requests do not wait when many jobs are due. */
const releaseMax = 1_000;

/** One run of a job: the row and the run number. */
export interface Claim {
  readonly seq: number;
  readonly starts: number;
}

export interface ClaimedJob extends Claim {
  readonly id: string;
  readonly data: JobData;
  readonly failedRuns: number;
  readonly attempts: number;
  readonly backoffMs: number;
}

/** Limits the disk space of finished jobs. A million take about 200 MB. */
const finishedMax = 1_000_000;

/** Jobs deleted per step, about 5 µs each, so that requests do not wait. */
const sweepMax = 500;

/** Access to the job rows. All calls are synchronous; changes must run inside the file's `write`. */
export class JobTable {
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(db: DatabaseSync) {
    this.#statements = prepareStatements(db);
  }

  /** Stores the jobs with new IDs. */
  insert(queue: string, jobs: readonly CheckedJob[], now: number): void {
    for (const { id, data, delayMs, priority, attempts, backoffMs } of jobs) {
      this.#statements.insert.run(
        queue,
        id,
        JSON.stringify(data),
        delayMs > 0 ? 1 : 0,
        priority,
        now + delayMs,
        attempts,
        backoffMs,
      );
    }
  }

  /** Makes a bounded batch of due delayed jobs and jobs with expired leases ready, oldest first. */
  release(queue: string, now: number): void {
    this.#statements.release.run(now, queue, now);
  }

  /** Claims at most `limit` ready jobs, by priority number, then in order of arrival. */
  claim(queue: string, leaseEndsAt: number, limit: number): ClaimedJob[] {
    const rows = this.#statements.claim.all(leaseEndsAt, queue, limit);
    rows.sort((a, b) => Number(a.priority) - Number(b.priority) || Number(a.seq) - Number(b.seq));
    return rows.map((row) => ({
      seq: Number(row.seq),
      starts: Number(row.starts),
      id: String(row.id),
      data: JSON.parse(String(row.data)) as JobData,
      failedRuns: Number(row.failed_runs),
      attempts: Number(row.attempts),
      backoffMs: Number(row.backoff_ms),
    }));
  }

  /** Calls with a claim return whether the claim was still valid. */
  renew({ seq, starts }: Claim, leaseEndsAt: number): boolean {
    return this.#statements.renew.run(leaseEndsAt, seq, starts).changes === 1;
  }

  finish({ seq, starts }: Claim, now: number): boolean {
    return this.#statements.finish.run(now, seq, starts).changes === 1;
  }

  fail({ seq, starts }: Claim, failure: { failedRuns: number; reason: string; now: number }): boolean {
    return this.#statements.fail.run(failure.now, failure.failedRuns, failure.reason, seq, starts).changes === 1;
  }

  /** Delays the job until a time; `failedRuns` counts against its attempts. */
  postpone({ seq, starts }: Claim, until: number, failedRuns: number): boolean {
    return this.#statements.postpone.run(until, failedRuns, seq, starts).changes === 1;
  }

  requeue({ seq, starts }: Claim): boolean {
    return this.#statements.requeue.run(seq, starts).changes === 1;
  }

  /** When the next delayed job is due or the next lease ends, or null. */
  nextDueAt(queue: string): number | null {
    const at = this.#statements.nextDue.get(queue)?.due_at;
    return at === undefined ? null : Number(at);
  }

  counts(queue: string): JobCounts {
    const byState = new Map(
      this.#statements.counts.all(queue, queue, queue).map((row) => [Number(row.state), Number(row.jobs)]),
    );
    const of = (state: number) => byState.get(state) ?? 0;
    return { waiting: of(0), delayed: of(1), active: of(2), failed: of(4) };
  }

  failed(queue: string, { limit, offset }: { limit: number; offset: number }): FailedJob[] {
    return this.#statements.failed.all(queue, limit, offset).map((row) => ({
      id: String(row.id),
      data: JSON.parse(String(row.data)) as JobData,
      attempt: Number(row.failed_runs),
      reason: String(row.reason),
      failedAt: Number(row.due_at),
    }));
  }

  retryFailed(queue: string, id: string): boolean {
    return this.#statements.retryFailed.run(queue, id).changes === 1;
  }

  /**
   * Deletes finished jobs beyond their maximum age or number, in a bounded batch per kind. Returns whether more may
   * remain.
   */
  sweep(now: number): boolean {
    const { sweepDone, sweepOld, sweepFailed, failedQueues, failedOverLimit } = this.#statements;
    const deleted = [
      sweepDone.run(now - jobRules.finishedLifeMs),
      sweepOld.run(finishedMax),
      sweepFailed.run(now - jobRules.failedLifeMs),
      ...failedQueues.all().map(({ queue }) => failedOverLimit.run(String(queue), jobRules.failedMax)),
    ];
    return deleted.some(({ changes }) => changes === sweepMax);
  }
}

function prepareStatements(db: DatabaseSync) {
  const onClaim = 'WHERE seq = ? AND starts = ? AND state = 2';
  return {
    insert: db.prepare(
      `INSERT INTO jobs (queue, id, data, state, priority, due_at, attempts, backoff_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    ),
    release: db.prepare(
      `UPDATE jobs SET
         state = CASE WHEN state = 2 AND lost_leases >= ${jobRules.lostLeasesMax} THEN 4 ELSE 0 END,
         reason = CASE WHEN state = 2 THEN 'its lease was lost ' || (lost_leases + 1) || ' times' ELSE reason END,
         due_at = CASE WHEN state = 2 AND lost_leases >= ${jobRules.lostLeasesMax} THEN ? ELSE due_at END,
         failed_runs = failed_runs + (state = 2 AND lost_leases >= ${jobRules.lostLeasesMax}),
         lost_leases = lost_leases + (state = 2)
       WHERE seq IN (SELECT seq FROM jobs WHERE queue = ? AND state IN (1, 2) AND due_at <= ? ORDER BY due_at LIMIT ${releaseMax})`,
    ),
    claim: db.prepare(
      `UPDATE jobs SET state = 2, due_at = ?, starts = starts + 1
       WHERE seq IN (SELECT seq FROM jobs WHERE queue = ? AND state = 0 ORDER BY priority, seq LIMIT ?)
       RETURNING seq, starts, id, data, priority, failed_runs, attempts, backoff_ms`,
    ),
    renew: db.prepare(`UPDATE jobs SET due_at = ? ${onClaim}`),
    finish: db.prepare(`UPDATE jobs SET state = 3, due_at = ?, data = '' ${onClaim}`),
    fail: db.prepare(`UPDATE jobs SET state = 4, due_at = ?, failed_runs = ?, reason = ? ${onClaim}`),
    postpone: db.prepare(`UPDATE jobs SET state = 1, due_at = ?, failed_runs = ? ${onClaim}`),
    requeue: db.prepare(`UPDATE jobs SET state = 0 ${onClaim}`),
    nextDue: db.prepare('SELECT due_at FROM jobs WHERE queue = ? AND state IN (1, 2) ORDER BY due_at LIMIT 1'),
    counts: db.prepare(
      `SELECT 0 AS state, count(*) AS jobs FROM jobs WHERE queue = ? AND state = 0
       UNION ALL SELECT state, count(*) FROM jobs WHERE queue = ? AND state IN (1, 2) GROUP BY state
       UNION ALL SELECT 4, count(*) FROM jobs WHERE queue = ? AND state = 4`,
    ),
    failed: db.prepare(
      'SELECT * FROM jobs WHERE queue = ? AND state = 4 ORDER BY due_at DESC, seq DESC LIMIT ? OFFSET ?',
    ),
    retryFailed: db.prepare(
      'UPDATE jobs SET state = 0, failed_runs = 0, lost_leases = 0, starts = starts + 1, reason = NULL WHERE queue = ? AND id = ? AND state = 4',
    ),
    sweepDone: db.prepare(
      `DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE state = 3 AND due_at <= ? ORDER BY due_at LIMIT ${sweepMax})`,
    ),
    sweepOld: db.prepare(
      `DELETE FROM jobs WHERE seq IN (
         SELECT seq FROM jobs WHERE seq <= (SELECT max(seq) FROM jobs) - ? AND state = 3 ORDER BY seq LIMIT ${sweepMax})`,
    ),
    failedQueues: db.prepare('SELECT DISTINCT queue FROM jobs WHERE state = 4'),
    sweepFailed: db.prepare(
      `DELETE FROM jobs WHERE seq IN (SELECT seq FROM jobs WHERE state = 4 AND due_at <= ? LIMIT ${sweepMax})`,
    ),
    failedOverLimit: db.prepare(
      `DELETE FROM jobs WHERE seq IN (
         SELECT seq FROM jobs WHERE queue = ? AND state = 4 ORDER BY due_at DESC LIMIT ${sweepMax} OFFSET ?)`,
    ),
  } satisfies Record<string, StatementSync>;
}
