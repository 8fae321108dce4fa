import { keepPrivate } from '../../../platform/keep-private.ts';
import { DatabaseSync } from 'node:sqlite';
import { unavailable } from '../../../domain/errors.ts';

/** Runs the work of several callers; returns their values in the same order. */
type RunAll = (items: readonly unknown[]) => readonly unknown[];

/** Work queued for the next group commit. */
interface Pending {
  readonly runAll: RunAll;
  readonly item: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Bulk operations per commit, so that a publish does not wait for all queued ones. With one per commit, publishes
 * during a large push waited longer, because of the fixed cost of commits (measured on a busy machine).
 */
const bulkPerCommitMax = 4;

/** Limits the memory for queued writes while the disk stalls. */
const pendingMax = 100_000;

/**
 * How much of the file a connection maps into memory; the rest of a larger file is read page by page. Mapping halves
 * the time of a search and of a page of scattered messages (measured), and uses only address space.
 */
export const mappedBytesMax = 0x7fff0000;

/**
 * The size of the write-ahead log, in pages of 4 KiB, from which a commit copies it into the file and syncs both. With
 * SQLite's 1,000, publishing on 64 connections takes 8 % longer (measured).
 */
const checkpointPages = 4_000;

const runEach: RunAll = (works) => works.map((work) => (work as () => unknown)());

/**
 * A SQLite file with one writing connection and group commit: writes that arrive during a commit
 * share the next one, so that many writers share one fsync (WAL, synchronous=FULL).
 *
 * All embedded drivers write through it. Reads on `db` see only committed data, because no transaction stays open
 * between tasks of the event loop. Other processes (the CLI) may write to the same file; writers wait for each other
 * for up to 5 s.
 */
export class SqliteFile {
  readonly db: DatabaseSync;
  readonly path: string;
  #pending: Pending[] = [];
  readonly #bulk: Pending[] = [];
  #afterCommit: (() => void)[] = [];
  readonly #commitHooks = new Set<() => void>();
  #scheduled = false;
  #closed = false;

  constructor(path: string) {
    this.path = path;
    this.db = new DatabaseSync(path, { timeout: 5_000 });
    keepPrivate(path); // SQLite gives its other files the same permissions
    // An older file keeps its mode (docs/retention.md); changing it would lock the file.
    if (isEmpty(this.db)) this.db.exec('PRAGMA auto_vacuum = INCREMENTAL');
    this.db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;');
    this.db.exec('PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864;');
    this.db.exec(`PRAGMA mmap_size = ${mappedBytesMax}; PRAGMA wal_autocheckpoint = ${checkpointPages}`);
  }

  /**
   * Runs synchronous work inside the next group commit and resolves with its value once the commit is on disk.
   * If the work throws, only its own changes are rolled back, and the promise rejects with the error.
   * Rejects immediately with AppError `unavailable`, without running the work, if 100,000 others are queued.
   */
  write<T>(work: () => T): Promise<T> {
    return this.#enqueue(runEach, work) as Promise<T>;
  }

  /**
   * Like `write`, for bulk operations with a low priority: a group commit includes at most four of them, so that
   * a publish does not wait for all queued ones.
   */
  writeBulk<T>(work: () => T): Promise<T> {
    return this.#enqueue(runEach, work, this.#bulk) as Promise<T>;
  }

  /**
   * Like `write`, for work that is cheaper in batches: one call of `runAll` runs the work of all callers of a group
   * commit and returns their values in the same order. If it throws, `runAll` is called again for each caller alone.
   */
  batched<I, T>(runAll: (items: readonly I[]) => readonly T[]): (item: I) => Promise<T> {
    return (item) => this.#enqueue(runAll as RunAll, item) as Promise<T>;
  }

  /** Call within work. The callback runs after the commit, and not after a rollback. It must not throw. */
  afterCommit(callback: () => void): void {
    this.#afterCommit.push(callback);
  }

  /**
   * Runs synchronous work inside every group commit, after the queued work. The work must be cheap and must not throw.
   * Returns a function that removes it.
   */
  onEachCommit(work: () => void): () => void {
    this.#commitHooks.add(work);
    return () => this.#commitHooks.delete(work);
  }

  #enqueue(runAll: RunAll, item: unknown, queue = this.#pending): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error('the SQLite file is closed'));
    if (queue.length >= pendingMax)
      return Promise.reject(unavailable('Database', new Error('too many writes are queued')));
    return new Promise((resolve, reject) => {
      queue.push({ runAll, item, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#flush());
  }

  /** Commits queued work and closes the file. */
  close(): void {
    if (this.#closed) return;
    do this.#flush();
    while (this.#bulk.length > 0);
    this.#closed = true;
    this.db.exec('PRAGMA optimize');
    this.db.close();
  }

  #flush(): void {
    this.#scheduled = false;
    const batch = this.#pending;
    this.#pending = [];
    batch.push(...this.#bulk.splice(0, bulkPerCommitMax));
    if (this.#bulk.length > 0) this.#schedule();
    if (batch.length === 0) return;
    if (this.#commitBatch(batch)) return;
    for (const one of batch) this.#commitOne(one);
  }

  /** Commits all work in one transaction. If any work throws, writes nothing and returns false. */
  #commitBatch(batch: readonly Pending[]): boolean {
    try {
      const values = this.#commit(() => runTogether(batch));
      batch.forEach((one) => one.resolve(values.get(one)));
      return true;
    } catch {
      return false;
    }
  }

  #commitOne(one: Pending): void {
    try {
      const values = this.#commit(() => one.runAll([one.item]));
      one.resolve(values[0]);
    } catch (error) {
      one.reject(error);
    }
  }

  /** Runs the work in a transaction, which is rolled back if the work throws. */
  #commit<T>(work: () => T): T {
    try {
      this.db.exec('BEGIN IMMEDIATE');
      const value = work();
      for (const join of this.#commitHooks) join();
      this.db.exec('COMMIT');
      for (const callback of this.#afterCommit) callback();
      return value;
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      throw error;
    } finally {
      this.#afterCommit = [];
    }
  }
}

function runTogether(batch: readonly Pending[]): Map<Pending, unknown> {
  const values = new Map<Pending, unknown>();
  for (const [runAll, ofOne] of Map.groupBy(batch, (one) => one.runAll)) {
    const results = runAll(ofOne.map((one) => one.item));
    ofOne.forEach((one, index) => values.set(one, results[index]));
  }
  return values;
}

function isEmpty(db: DatabaseSync): boolean {
  return (db.prepare('PRAGMA page_count').get() as { page_count: number }).page_count === 0;
}
