import type { StatementSync } from 'node:sqlite';
import { unavailable } from '../../../domain/errors.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type {
  FailedJob,
  JobCounts,
  JobData,
  JobQueue,
  NewJob,
  Schedule,
  Worker,
  WorkOptions,
} from '../../../ports/job-queue.ts';
import { checkedJob, checkId, slotJob } from '../../job-rules.ts';
import { ScheduleRunner, type StoredSchedule } from '../../schedule-runner.ts';
import { scheduleSlots } from '../../schedule-slots.ts';
import { JobLeases } from './job-leases.ts';
import { JobTable } from './job-table.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { SqliteJobWorker } from './sqlite-job-worker.ts';

export interface SqliteJobQueueOptions {
  /** Must have the tables of `jobsMigration`; its owner closes it after the queue. */
  readonly file: SqliteFile;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The job queue in tables of the SQLite file. Workers of this process see a new job immediately, those of another
 * process within a second. Remembers the ID of a finished job for a day, unless a million jobs were added after it.
 */
export function openSqliteJobQueue(options: SqliteJobQueueOptions): JobQueue {
  return new SqliteJobQueue(options);
}

const sweepIntervalMs = 60_000;

class SqliteJobQueue implements JobQueue {
  readonly #options: SqliteJobQueueOptions;
  readonly #table: JobTable;
  readonly #leases: JobLeases;
  readonly #schedules: ReturnType<typeof prepareSchedules>;
  readonly #workers = new Map<string, Set<SqliteJobWorker>>();
  readonly #runners = new Map<string, ScheduleRunner>();
  readonly #sweepTimer: NodeJS.Timeout;
  #sweeping: Promise<void> | undefined;
  #isClosing = false;
  /** Set after closing has begun, because running jobs may add others. */
  #isClosed = false;

  constructor(options: SqliteJobQueueOptions) {
    this.#options = options;
    this.#table = new JobTable(options.file.db);
    this.#leases = new JobLeases(this.#table);
    this.#schedules = prepareSchedules(options.file);
    this.#sweepTimer = setInterval(() => (this.#sweeping ??= this.#sweep()), sweepIntervalMs).unref();
  }

  async add(queue: string, jobs: readonly NewJob[]): Promise<void> {
    const checked = jobs.map(checkedJob);
    if (checked.length === 0) return;
    const now = this.#options.clock();
    await this.#write(() => this.#table.insert(queue, checked, now));
    this.#wake(queue, now + Math.min(...checked.map(({ delayMs }) => delayMs)));
  }

  /** A full disk rejects all writes. */
  hasRoom(): Promise<boolean> {
    return Promise.resolve(true);
  }

  work(queue: string, options: WorkOptions): Promise<Worker> {
    if (this.#isClosing) return Promise.reject(unavailable('Queue'));
    const { file, clock, log } = this.#options;
    const onReady = (at: number) => this.#wake(queue, at);
    const worker = new SqliteJobWorker(queue, options, {
      file,
      table: this.#table,
      leases: this.#leases,
      clock,
      log,
      onReady,
    });
    const workers = this.#workers.get(queue) ?? new Set();
    this.#workers.set(queue, workers.add(worker));
    if (!this.#runners.has(queue)) this.#runners.set(queue, this.#startRunner(queue));
    return Promise.resolve({ close: (graceMs) => this.#closeWorker(queue, worker, graceMs) });
  }

  #startRunner(queue: string): ScheduleRunner {
    const { clock, log } = this.#options;
    const store = {
      load: () => Promise.resolve(this.#loadSchedules(queue)),
      fire: (schedule: Schedule, slot: number) => this.add(queue, [slotJob(schedule, slot)]),
    };
    return new ScheduleRunner({ store, clock, log });
  }

  async #closeWorker(queue: string, worker: SqliteJobWorker, graceMs?: number): Promise<void> {
    const workers = this.#workers.get(queue);
    workers?.delete(worker);
    const isLast = workers?.size === 0;
    if (isLast) await this.#closeRunner(queue);
    await worker.close(graceMs);
  }

  async #closeRunner(queue: string): Promise<void> {
    const runner = this.#runners.get(queue);
    this.#runners.delete(queue);
    await runner?.close();
  }

  #wake(queue: string, at: number): void {
    for (const worker of this.#workers.get(queue) ?? []) worker.wakeAt(at);
  }

  async schedule(queue: string, { id, every, data }: Schedule): Promise<void> {
    checkId(id);
    scheduleSlots(every);
    const now = this.#options.clock();
    await this.#write(() => this.#schedules.put.run(queue, id, JSON.stringify(every), JSON.stringify(data), now));
    await this.#runners.get(queue)?.refresh();
  }

  async unschedule(queue: string, id: string): Promise<void> {
    await this.#write(() => this.#schedules.remove.run(queue, id));
    await this.#runners.get(queue)?.refresh();
  }

  #loadSchedules(queue: string): StoredSchedule[] {
    return this.#schedules.list.all(queue).map((row) => ({
      id: String(row.id),
      every: JSON.parse(String(row.every)) as Schedule['every'],
      data: JSON.parse(String(row.data)) as JobData,
      definedAt: Number(row.defined_at),
    }));
  }

  counts(queue: string): Promise<JobCounts> {
    return this.#read(() => this.#table.counts(queue));
  }

  failed(queue: string, page: { limit: number; offset: number }): Promise<FailedJob[]> {
    return this.#read(() => this.#table.failed(queue, page));
  }

  async retryFailed(queue: string, id: string): Promise<boolean> {
    const existed = await this.#write(() => this.#table.retryFailed(queue, id));
    if (existed) this.#wake(queue, this.#options.clock());
    return existed;
  }

  ping(): Promise<void> {
    return this.#read(() => this.#options.file.db.exec('SELECT 1'));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#sweepTimer);
    const closing = [...this.#workers].flatMap(([queue, workers]) =>
      [...workers].map((worker) => this.#closeWorker(queue, worker)),
    );
    await Promise.all(closing);
    await this.#sweeping;
    this.#isClosed = true;
  }

  /** Does not throw: the next sweep retries. */
  async #sweep(): Promise<void> {
    const { file, clock, log } = this.#options;
    try {
      while (!this.#isClosing && (await file.write(() => this.#table.sweep(clock()))));
    } catch (error) {
      log.warn({ err: error }, 'finished jobs could not be deleted');
    } finally {
      this.#sweeping = undefined;
    }
  }

  async #write<T>(work: () => T): Promise<T> {
    if (this.#isClosed) throw unavailable('Queue');
    try {
      return await this.#options.file.write(work);
    } catch (error) {
      throw unavailable('Queue', error);
    }
  }

  async #read<T>(work: () => T): Promise<T> {
    if (this.#isClosed) throw unavailable('Queue');
    try {
      return work();
    } catch (error) {
      throw unavailable('Queue', error);
    }
  }
}

function prepareSchedules({ db }: SqliteFile) {
  return {
    put: db.prepare(
      `INSERT INTO job_schedules (queue, id, every, data, defined_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET every = excluded.every, data = excluded.data,
         defined_at = CASE WHEN every = excluded.every THEN defined_at ELSE excluded.defined_at END`,
    ),
    remove: db.prepare('DELETE FROM job_schedules WHERE queue = ? AND id = ?'),
    list: db.prepare('SELECT id, every, data, defined_at FROM job_schedules WHERE queue = ?'),
  } satisfies Record<string, StatementSync>;
}
