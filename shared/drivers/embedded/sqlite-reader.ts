import { Worker } from 'node:worker_threads';
import { unavailable } from '../../domain/errors.ts';
import { searchTookTooLong } from '../../ports/search-limit.ts';
import type { ReaderStart, ReadJob, ReadOutcome } from './sqlite-reader-thread.ts';
import { sqliteUnavailable } from './sqlite-unavailable.ts';

/** Jobs of a thread that wait or are under way. Harm prevented: searches that come faster than they are done filling the memory. */
const jobsMax = 500;

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread with a connection of its own, for reads that may touch any number of rows: SQLite answers synchronously, and on the
 * loop they would keep publishes waiting. Started by the first job. A thread that dies fails the jobs it has, and the next
 * job starts another.
 */
export class SqliteReader {
  readonly #start: ReaderStart;
  #thread: Worker | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isClosed = false;

  /** The file has been migrated. */
  constructor(start: ReaderStart) {
    this.#start = start;
  }

  /** Rejects with AppError `unavailable` when the job took too long, or when too many are waiting. */
  run<T>(job: ReadJob): Promise<T> {
    if (this.#isClosed || this.#waiting.size >= jobsMax) return Promise.reject(unavailable('Database'));
    const id = this.#lastId += 1;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      (this.#thread ??= this.#open()).postMessage({ id, job });
    });
  }

  /** Ends the thread; jobs that are under way fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  #open(): Worker {
    const thread = new Worker(new URL('./sqlite-reader-thread.ts', import.meta.url), { workerData: this.#start });
    let cause: unknown;
    thread.on('message', (outcome: ReadOutcome) => this.#settle(outcome));
    thread.on('error', (error) => (cause = error));
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
      const lost = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of lost) reject(unavailable('Database', cause));
    });
    thread.unref();
    return thread;
  }

  #settle(outcome: ReadOutcome): void {
    const waiting = this.#waiting.get(outcome.id)!;
    this.#waiting.delete(outcome.id);
    if ('value' in outcome) waiting.resolve(outcome.value as never);
    else if ('tookTooLong' in outcome) waiting.reject(searchTookTooLong());
    else waiting.reject(sqliteUnavailable(Object.assign(new Error(outcome.error.message), { errcode: outcome.error.errcode })));
  }
}
