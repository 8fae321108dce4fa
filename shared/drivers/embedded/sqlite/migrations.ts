import type { DatabaseSync } from 'node:sqlite';
import type { SqliteFile } from './sqlite-file.ts';

/** A forward-only migration of the file's schema. */
export interface Migration {
  /** The name of the change. Migrations run once each, in list order. */
  readonly name: string;
  readonly sql: string;
}

/**
 * Migrates the file to the latest schema, in one transaction per migration. Concurrently starting processes wait for
 * each other. Does not lock a file that already has the latest schema, because opening it alongside a busy server could
 * wait forever. Throws if the file was written by a newer version.
 */
export function migrate(file: SqliteFile, migrations: readonly Migration[]): void {
  const { db } = file;
  while (nextMigration(file, migrations) !== undefined) {
    db.exec('BEGIN IMMEDIATE');
    try {
      // Another process may have migrated the file first.
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

/** The number of applied migrations. */
export function schemaVersionOf(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/** Returns the next missing migration and its version; undefined if the file is up to date. */
function nextMigration(
  { db, path }: SqliteFile,
  migrations: readonly Migration[],
): { migration: Migration; version: number } | undefined {
  const version = schemaVersionOf(db);
  if (version > migrations.length) {
    throw new Error(
      `${path} has schema ${version}, this version supports ${migrations.length}: use a newer version of Tocsin`,
    );
  }
  const migration = migrations[version];
  return migration === undefined ? undefined : { migration, version: version + 1 };
}
