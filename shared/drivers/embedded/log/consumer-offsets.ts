import type { StatementSync } from 'node:sqlite';
import type { Logger } from '../../../platform/logger.ts';
import type { Migration } from '../sqlite/migrations.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

/** The table of the consumer groups' offsets: `position` is the offset of the next record. */
export const consumerOffsetsMigration: Migration = {
  name: 'consumer positions',
  sql: `CREATE TABLE consumer_positions (
    group_name TEXT NOT NULL,
    partition INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (group_name, partition)
  ) STRICT, WITHOUT ROWID`,
};

/**
 * How long an advanced offset may stay unwritten. A write per batch would cost every publish a second fsync; after a
 * crash, at most the records of this time are processed again.
 */
const writeDelayMs = 1_000;

/**
 * The groups' offsets in the single partition of the embedded log, cached in memory and written at most once per
 * second.
 */
export class ConsumerOffsets {
  readonly #file: SqliteFile;
  readonly #log: Logger;
  readonly #select: StatementSync;
  readonly #upsert: StatementSync;
  readonly #offsets = new Map<string, number>();
  readonly #unwritten = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(file: SqliteFile, log: Logger) {
    this.#file = file;
    this.#log = log;
    this.#select = file.db.prepare('SELECT position FROM consumer_positions WHERE group_name = ? AND partition = 0');
    this.#upsert = file.db.prepare(
      `INSERT INTO consumer_positions (group_name, partition, position) VALUES (?, 0, ?)
       ON CONFLICT DO UPDATE SET position = excluded.position`,
    );
  }

  /** Returns the group's offset; 0 for a new group. */
  get(group: string): number {
    const known = this.#offsets.get(group);
    if (known !== undefined) return known;
    const offset = Number(this.#select.get(group)?.position ?? 0);
    this.#offsets.set(group, offset);
    return offset;
  }

  /** Advances the group's offset; written within a second, or by `flush`. */
  set(group: string, offset: number): void {
    this.#offsets.set(group, offset);
    this.#unwritten.add(group);
    this.#timer ??= setTimeout(() => void this.flush(), writeDelayMs).unref();
  }

  /** Writes changed offsets. Logs and retries failures: records may then be processed twice, but are never lost. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unwritten.size === 0) return;
    const groups = [...this.#unwritten];
    this.#unwritten.clear();
    try {
      await this.#file.write(() => {
        for (const group of groups) this.#upsert.run(group, this.#offsets.get(group)!);
      });
    } catch (error) {
      for (const group of groups) this.#unwritten.add(group);
      this.#log.warn({ err: error, groups }, 'consumer offsets could not be written');
    }
  }
}
