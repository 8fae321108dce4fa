import { Worker } from 'node:worker_threads';
import { unavailable, type AppError } from '../../../domain/errors.ts';
import { TopicLists, topicsOf, withTopics, type ReadJob } from './sqlite-read-job.ts';
import type { ReaderStart, ReadOutcome, ReadRequest } from './sqlite-reader-thread.ts';
import { sqliteUnavailable } from '../sqlite/sqlite-unavailable.ts';

/** Queued and running jobs per thread; limits the memory for queued searches. */
const jobsMax = 500;

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread with its own connection for reads of any number of rows. SQLite is synchronous, so on the event loop they
 * would delay publishes. The first job starts the thread. If the thread dies, its jobs fail, and the next job starts
 * another thread.
 */
export class SqliteReader {
  readonly #start: ReaderStart;
  readonly #tookTooLong: () => AppError;
  #thread: Worker | undefined;
  /** Jobs sent to the thread. */
  #lists = new TopicLists();
  /**
   * Waiting callers by job number. Not a Map, because V8 copies a constantly changing Map repeatedly, and each copy
   * references the next: a copy in the old generation keeps all job results alive, which causes garbage collection
   * pauses of 20 to 60 ms instead of less than 1 ms (measured).
   */
  readonly #waiting: (Waiting | undefined)[] = [];
  readonly #freeIds: number[] = [];
  #isClosed = false;

  /** The file must be migrated. */
  constructor({ tookTooLong, ...start }: ReaderStart & { readonly tookTooLong: () => AppError }) {
    this.#start = start;
    this.#tookTooLong = tookTooLong;
  }

  /** Rejects with the error of `tookTooLong` after the time limit, with AppError `unavailable` if the queue is full. */
  run<T>(job: ReadJob): Promise<T> {
    const id = this.#freeIds.pop() ?? this.#waiting.length;
    if (this.#isClosed || id >= jobsMax) return Promise.reject(unavailable('Database'));
    return new Promise<T>((resolve, reject) => {
      this.#waiting[id] = { resolve, reject };
      this.#thread ??= this.#open();
      this.#thread.ref(); // keeps the process alive only while jobs run
      this.#thread.postMessage({
        id,
        job: withTopics(job, []),
        topics: this.#lists.send(topicsOf(job)),
      } satisfies ReadRequest);
    });
  }

  /** Ends the thread; running jobs fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  #open(): Worker {
    this.#lists = new TopicLists();
    const thread = new Worker(new URL('./sqlite-reader-thread.ts', import.meta.url), { workerData: this.#start });
    let cause: unknown;
    thread.on('message', (outcome: ReadOutcome) => this.#settle(outcome));
    thread.on('error', (error) => (cause = error));
    thread.on('exit', () => {
      if (this.#thread === thread) this.#thread = undefined;
      for (let id = 0; id < this.#waiting.length; id += 1) this.#take(id)?.reject(unavailable('Database', cause));
    });
    thread.unref();
    return thread;
  }

  #settle(outcome: ReadOutcome): void {
    const waiting = this.#take(outcome.id)!;
    if ('value' in outcome) waiting.resolve(outcome.value as never);
    else if ('tookTooLong' in outcome) waiting.reject(this.#tookTooLong());
    else
      waiting.reject(
        sqliteUnavailable(Object.assign(new Error(outcome.error.message), { errcode: outcome.error.errcode })),
      );
  }

  /** Removes and returns the job's caller. */
  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting[id];
    this.#waiting[id] = undefined;
    if (waiting !== undefined) this.#freeIds.push(id);
    if (this.#freeIds.length === this.#waiting.length) this.#thread?.unref();
    return waiting;
  }
}
