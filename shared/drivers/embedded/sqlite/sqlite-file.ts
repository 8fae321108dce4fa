import { DatabaseSync } from 'node:sqlite';
import { unavailable } from '../../../domain/errors.ts';

/** Does the work of several callers; returns their values in the same order. */
type RunAll = (items: readonly unknown[]) => readonly unknown[];

/** Work that waits for the next group commit. */
interface Pending {
  readonly runAll: RunAll;
  readonly item: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Works on many rows in a commit. Harm prevented: a publish waiting for all that have come together. With one a commit, its fixed cost is
 * paid so often that publishes beside a large push waited longer, not shorter (measured on a busy machine).
 */
const bulkAtOnce = 4;

/** Harm prevented: without a limit, a disk that stalls would fill the memory with waiting writes. */
const pendingMax = 100_000;

/**
 * How much of the file a connection reads through the system's memory instead of by a call for each page, which takes twice the
 * time of a search and of a page of messages that lie apart (measured). Address space only; a file beyond it is read by calls again.
 */
export const mappedBytesMax = 0x7fff0000;

const runEach: RunAll = (works) => works.map((work) => (work as () => unknown)());

/**
 * One SQLite file with one writing connection and group commit: whatever asks to write while a commit is under way
 * shares the next one, so that many writers pay for one fsync (WAL, synchronous=FULL).
 *
 * All embedded drivers write through it; reads on `db` see what is committed, and nothing else, since the loop never
 * leaves a transaction open. Other processes (the CLI) may write to the same file: they wait for each other up to 5 s.
 */
export class SqliteFile {
  readonly db: DatabaseSync;
  readonly path: string;
  #pending: Pending[] = [];
  readonly #bulk: Pending[] = [];
  #afterCommit: (() => void)[] = [];
  readonly #joiners = new Set<() => void>();
  #scheduled = false;
  #closed = false;

  constructor(path: string) {
    this.path = path;
    this.db = new DatabaseSync(path, { timeout: 5_000 });
    // One from before goes on as it is (docs/retention.md), and would be locked by this.
    if (isEmpty(this.db)) this.db.exec('PRAGMA auto_vacuum = INCREMENTAL');
    this.db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;');
    this.db.exec('PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864;');
    this.db.exec(`PRAGMA mmap_size = ${mappedBytesMax}`);
  }

  /**
   * Runs synchronous work inside the next group commit and resolves with its value once that is on disk.
   * When the work throws, its own changes are undone, the others' are kept, and the promise rejects with the error.
   * Rejects with AppError `unavailable` at once, without doing the work, when 100,000 others wait.
   */
  write<T>(work: () => T): Promise<T> {
    return this.#enqueue(runEach, work) as Promise<T>;
  }

  /**
   * As `write`, for work on many rows that is done behind what people wait for: a group commit has four such works at most, so that
   * a publish waits for some of them and not for all that have come together.
   */
  writeBulk<T>(work: () => T): Promise<T> {
    return this.#enqueue(runEach, work, this.#bulk) as Promise<T>;
  }

  /**
   * As `write`, for work that is cheaper together: one call of `runAll` does what all callers ask for in a group commit,
   * and returns their values in the same order. When it throws, it is called again for each of them alone.
   */
  grouped<I, T>(runAll: (items: readonly I[]) => readonly T[]): (item: I) => Promise<T> {
    return (item) => this.#enqueue(runAll as RunAll, item) as Promise<T>;
  }

  /** To be called by work: runs once its transaction is committed, and never when it is rolled back. Must not throw. */
  afterCommit(callback: () => void): void {
    this.#afterCommit.push(callback);
  }

  /**
   * Runs synchronous work inside every group commit, after that of those who asked for it. It must be cheap, and
   * must not throw. Returns what ends it.
   */
  joinCommits(work: () => void): () => void {
    this.#joiners.add(work);
    return () => this.#joiners.delete(work);
  }

  #enqueue(runAll: RunAll, item: unknown, queue = this.#pending): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error('the SQLite file is closed'));
    if (queue.length >= pendingMax)
      return Promise.reject(unavailable('Database', new Error('too many writes are waiting')));
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

  /** Commits what is waiting and closes the file. */
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
    batch.push(...this.#bulk.splice(0, bulkAtOnce));
    if (this.#bulk.length > 0) this.#schedule();
    if (batch.length === 0) return;
    if (this.#commitTogether(batch)) return;
    for (const one of batch) this.#commitAlone(one);
  }

  /** The common case: one transaction for all. False when one of them threw; nothing is written then. */
  #commitTogether(batch: readonly Pending[]): boolean {
    try {
      const values = this.#commit(() => runTogether(batch));
      batch.forEach((one) => one.resolve(values.get(one)));
      return true;
    } catch {
      return false;
    }
  }

  #commitAlone(one: Pending): void {
    try {
      const values = this.#commit(() => one.runAll([one.item]));
      one.resolve(values[0]);
    } catch (error) {
      one.reject(error);
    }
  }

  /** Runs the work in a transaction. When it throws, the transaction is rolled back. */
  #commit<T>(work: () => T): T {
    try {
      this.db.exec('BEGIN IMMEDIATE');
      const value = work();
      for (const join of this.#joiners) join();
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
