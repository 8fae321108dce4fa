import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQLInputValue } from 'node:sqlite';
import { baseAbove } from '../../../domain/log/base-above.ts';
import { logGroups } from '../../../domain/log/log-groups.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { AnyCollection } from '../../../ports/document-checks.ts';
import { rowsPageMax, type ImportProgress, type InstallationRows } from '../../../ports/installation-rows.ts';
import { installationParts } from '../../installation-parts.ts';
import { DataDirInUse, lockDataDir } from '../data-dir/lock-data-dir.ts';
import { sqliteDocumentPart } from './sqlite-document-part.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { sqliteMessageWriter } from '../messages/sqlite-message-writer.ts';
import { statementCache } from '../sqlite/sqlite-statement-cache.ts';
import { sqliteStoreParts } from './sqlite-store-parts.ts';

export interface SqliteInstallationOptions {
  readonly file: SqliteFile;
  readonly collections: readonly AnyCollection[];
  readonly dataDir: string;
  /** Whether a server runs on the file. */
  readonly isShared: boolean;
  readonly close: () => Promise<void>;
}

/**
 * The rows of an embedded installation, read through the file's connection. Within a read transaction, they are a
 * snapshot.
 */
export function sqliteInstallationRows({
  file,
  collections,
  dataDir,
  isShared,
  close,
}: SqliteInstallationOptions): InstallationRows {
  const progressFile = progressFileOf(dataDir);
  const statement = statementCache(file.db);
  const all = (sql: string, ...params: SQLInputValue[]) =>
    statement(sql).all(...params) as unknown as SQLInputValue[][];
  const run = (sql: string, ...params: SQLInputValue[]) => void statement(sql).run(...params);
  const access = { all, run };
  const partOf = installationParts(sqliteStoreParts(access), collections, (collection) =>
    sqliteDocumentPart(access, collection),
  );
  const end = sqliteMessageWriter(file.db, systemClock).end;
  return {
    engine: 'embedded',
    partitions: 1,
    ends: async () => [end()],
    async *rows(name) {
      for (let after: unknown = null; ;) {
        const { rows, last } = partOf(name).page(after);
        if (rows.length > 0) yield rows;
        if (rows.length < rowsPageMax) return;
        after = last;
      }
    },
    write: (name, rows) =>
      file.write(() => {
        for (const row of rows) partOf(name).write(row);
      }),
    importProgress: async () => readImportProgress(progressFile),
    saveImportProgress: async (place) => {
      // Written atomically, because an import could not resume from a damaged file.
      writeFileSync(`${progressFile}.new`, JSON.stringify(place), { flush: true });
      renameSync(`${progressFile}.new`, progressFile);
    },
    finishImport: async (ends) => {
      const base = baseAbove(Math.max(...ends) - 1);
      await file.write(() => {
        run('UPDATE log_end SET position = max(position, ?)', base);
        // Imported messages are not pushed: they were pushed before, or never will be.
        for (const group of logGroups) {
          run(
            'INSERT INTO consumer_positions (group_name, partition, position) VALUES (?, 0, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
            group,
            base,
          );
        }
      });
      rmSync(progressFile, { force: true });
    },
    state: async () => ({ blockers: [], notes: isShared ? [runningServerWarning] : [] }),
    close,
  };
}

const runningServerWarning =
  'a server runs on this directory: the export does not contain later messages. To move the installation, stop the server first';

const progressFileOf = (dataDir: string): string => join(dataDir, 'import.json');

/** Rejects a directory with an unfinished import. */
export function requireNoImport(dataDir: string): void {
  if (readImportProgress(progressFileOf(dataDir)) === null) return;
  throw new Error(
    `An import into ${dataDir} is unfinished: run the same \`tocsin import\` again, or remove the directory`,
  );
}

/** Locks the directory and returns the unlock function; null for an export while a server has the lock. */
export function lockInstallation(dataDir: string, purpose: 'export' | 'import'): (() => void) | null {
  if (purpose === 'import') return lockDataDir(dataDir);
  requireNoImport(dataDir);
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof DataDirInUse) return null;
    throw error;
  }
}

/** Returns the progress of an unfinished import, or null. */
function readImportProgress(progressFile: string): ImportProgress | null {
  return existsSync(progressFile) ? (JSON.parse(readFileSync(progressFile, 'utf8')) as ImportProgress) : null;
}
