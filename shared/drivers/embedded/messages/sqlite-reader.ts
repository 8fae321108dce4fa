import { Worker } from 'node:worker_threads';
import { unavailable, type AppError } from '../../../domain/errors.ts';
import { TopicLists, topicsOf, withTopics, type ReadJob } from './sqlite-read-job.ts';
import type { ReaderStart, ReadOutcome, ReadRequest } from './sqlite-reader-thread.ts';
import { sqliteUnavailable } from '../sqlite/sqlite-unavailable.ts';

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
  readonly #tookTooLong: () => AppError;
  #thread: Worker | undefined;
  /** Those that the thread has. */
  #lists = new TopicLists();
  /**
   * Who waits, by the number of the job. No Map: one that is filled and emptied all the time is copied again and again, and
   * each copy holds on to the next; an old one that has outlived the young generation so keeps alive what every job answered,
   * and pauses for garbage take tens of milliseconds (measured: 20 to 60 instead of less than 1).
   */
  readonly #waiting: (Waiting | undefined)[] = [];
  readonly #freeIds: number[] = [];
  #isClosed = false;

  /** The file has been migrated. */
  constructor({ tookTooLong, ...start }: ReaderStart & { readonly tookTooLong: () => AppError }) {
    this.#start = start;
    this.#tookTooLong = tookTooLong;
  }

  /** Rejects with what `tookTooLong` makes when the job took too long, with AppError `unavailable` when too many are waiting. */
  run<T>(job: ReadJob): Promise<T> {
    const id = this.#freeIds.pop() ?? this.#waiting.length;
    if (this.#isClosed || id >= jobsMax) return Promise.reject(unavailable('Database'));
    return new Promise<T>((resolve, reject) => {
      this.#waiting[id] = { resolve, reject };
      this.#thread ??= this.#open();
      this.#thread.ref(); // while it works, and only then, it keeps the process from ending
      this.#thread.postMessage({
        id,
        job: withTopics(job, []),
        topics: this.#lists.send(topicsOf(job)),
      } satisfies ReadRequest);
    });
  }

  /** Ends the thread; jobs that are under way fail. */
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

  /** Who waits for the job, and no longer does. */
  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting[id];
    this.#waiting[id] = undefined;
    if (waiting !== undefined) this.#freeIds.push(id);
    if (this.#freeIds.length === this.#waiting.length) this.#thread?.unref();
    return waiting;
  }
}
