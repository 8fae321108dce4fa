import { DatabaseSync } from 'node:sqlite';

/** Work that waits for the next group commit. */
interface Pending {
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Harm prevented: without a limit, a disk that stalls would fill the memory with waiting writes. */
const pendingMax = 100_000;

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
  #scheduled = false;
  #closed = false;

  constructor(path: string) {
    this.path = path;
    this.db = new DatabaseSync(path, { timeout: 5_000 });
    this.db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;');
    this.db.exec('PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864;');
  }

  /**
   * Runs synchronous work inside the next group commit and resolves with its value once that is on disk.
   * When the work throws, its own changes are undone, the others' are kept, and the promise rejects with the error.
   */
  write<T>(work: () => T): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('the SQLite file is closed'));
    if (this.#pending.length >= pendingMax) return Promise.reject(new Error('too many writes are waiting'));
    return new Promise<T>((resolve, reject) => {
      this.#pending.push({ run: work, resolve: resolve as (value: unknown) => void, reject });
      if (!this.#scheduled) {
        this.#scheduled = true;
        setImmediate(() => this.#flush());
      }
    });
  }

  /** Commits what is waiting and closes the file. */
  close(): void {
    if (this.#closed) return;
    this.#flush();
    this.#closed = true;
    this.db.exec('PRAGMA optimize');
    this.db.close();
  }

  #flush(): void {
    this.#scheduled = false;
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    if (this.#commitTogether(batch)) return;
    for (const one of batch) this.#commitAlone(one);
  }

  /** The common case: one transaction for all. False when one of them threw; nothing is written then. */
  #commitTogether(batch: readonly Pending[]): boolean {
    const values: unknown[] = [];
    try {
      this.db.exec('BEGIN IMMEDIATE');
      for (const one of batch) values.push(one.run());
      this.db.exec('COMMIT');
    } catch {
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      return false;
    }
    batch.forEach((one, index) => one.resolve(values[index]));
    return true;
  }

  #commitAlone(one: Pending): void {
    try {
      this.db.exec('BEGIN IMMEDIATE');
      const value = one.run();
      this.db.exec('COMMIT');
      one.resolve(value);
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      one.reject(error);
    }
  }
}
