import type { StatementSync } from 'node:sqlite';
import type { CountedWindow } from '../../budget-counters.ts';
import type { Migration } from '../sqlite/migrations.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

/** The table of budgets, which are counted in memory, so that limits survive a restart. */
export const budgetsMigration: Migration = {
  name: 'budgets',
  sql: `CREATE TABLE budgets (
    key TEXT NOT NULL PRIMARY KEY,
    uses INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX budgets_ends_at ON budgets (ends_at);`,
};

/** Rows per commit, because publishes share the transaction. A row takes about 4 µs. */
const rowsPerWriteMax = 1_000;

/** The stored budgets. */
export class BudgetTable {
  readonly #file: SqliteFile;
  readonly #select: StatementSync;
  readonly #upsert: StatementSync;
  readonly #delete: StatementSync;

  constructor(file: SqliteFile) {
    this.#file = file;
    this.#select = file.db.prepare('SELECT key, uses, ends_at FROM budgets WHERE ends_at > ?');
    this.#upsert = file.db.prepare(
      `INSERT INTO budgets (key, uses, ends_at) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET uses = excluded.uses, ends_at = excluded.ends_at`,
    );
    this.#delete = file.db.prepare(
      `DELETE FROM budgets WHERE key IN (SELECT key FROM budgets WHERE ends_at <= ? LIMIT ${rowsPerWriteMax})`,
    );
  }

  /** Returns the windows that have not ended, in any order. */
  *load(now: number): Generator<CountedWindow> {
    for (const row of this.#select.iterate(now)) {
      yield { key: String(row.key), uses: Number(row.uses), endsAt: Number(row.ends_at) };
    }
  }

  /** Writes the windows inside the open transaction. */
  put(windows: Iterable<CountedWindow>): void {
    for (const { key, uses, endsAt } of windows) this.#upsert.run(key, uses, endsAt);
  }

  /** Writes the windows and deletes ended ones. */
  async save(windows: readonly CountedWindow[], now: number): Promise<void> {
    for (let start = 0; start < windows.length; start += rowsPerWriteMax) {
      const part = windows.slice(start, start + rowsPerWriteMax);
      await this.#file.write(() => this.put(part));
    }
    while (Number((await this.#file.write(() => this.#delete.run(now))).changes) === rowsPerWriteMax);
  }
}
