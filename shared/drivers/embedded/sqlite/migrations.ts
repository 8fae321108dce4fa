import type { DatabaseSync } from 'node:sqlite';
import type { SqliteFile } from './sqlite-file.ts';

/** A forward-only step of the file's schema. */
export interface Migration {
  /** Named after what it brings; steps run in the order of their list, each once. */
  readonly name: string;
  readonly sql: string;
}

/**
 * Brings the file to the newest schema, in one transaction per step (two processes that start at once wait for each
 * other). A file that has it is not locked: whoever opens it beside a server that writes without a pause would wait for
 * its turn in vain. Throws when the file was written by a newer program: it would not know what it does not know.
 */
export function migrate(file: SqliteFile, migrations: readonly Migration[]): void {
  const { db } = file;
  while (nextMigration(file, migrations) !== undefined) {
    db.exec('BEGIN IMMEDIATE');
    try {
      // Another process may have been here first.
      const next = nextMigration(file, migrations);
      if (next !== undefined) {
        db.exec(next.migration.sql);
        db.exec(`PRAGMA user_version = ${next.version}`);
      }
      db.exec('COMMIT');
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }
}

/** How many steps the file has. */
export function schemaVersionOf(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/** The step that the file lacks, and the version that it makes; undefined when the file has them all. */
function nextMigration(
  { db, path }: SqliteFile,
  migrations: readonly Migration[],
): { migration: Migration; version: number } | undefined {
  const version = schemaVersionOf(db);
  if (version > migrations.length) {
    throw new Error(`${path} has schema ${version}, this program knows ${migrations.length}: start a newer Tocsin`);
  }
  const migration = migrations[version];
  return migration === undefined ? undefined : { migration, version: version + 1 };
}
