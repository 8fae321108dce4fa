import type { SqliteFile } from './sqlite-file.ts';

/** A forward-only step of the file's schema. */
export interface Migration {
  /** Named after what it brings; steps run in the order of their list, each once. */
  readonly name: string;
  readonly sql: string;
}

/**
 * Brings the file to the newest schema, in one transaction per step (two processes that start at once wait for each
 * other). Throws when the file was written by a newer program: it would not know what it does not know.
 */
export function migrate(file: SqliteFile, migrations: readonly Migration[]): void {
  const { db } = file;
  for (;;) {
    db.exec('BEGIN IMMEDIATE');
    try {
      const version = Number(Object.values(db.prepare('PRAGMA user_version').get() ?? {})[0] ?? 0);
      if (version > migrations.length) {
        throw new Error(`${file.path} has schema ${version}, this program knows ${migrations.length}: start a newer Tocsin`);
      }
      const next = migrations[version];
      if (next === undefined) {
        db.exec('COMMIT');
        return;
      }
      db.exec(next.sql);
      db.exec(`PRAGMA user_version = ${version + 1}`);
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}
