import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQLInputValue } from 'node:sqlite';
import { baseAbove } from '../../../domain/log/base-above.ts';
import { logGroups } from '../../../domain/log/log-groups.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { AnyCollection } from '../../../ports/document-checks.ts';
import { rowsPageMax, type ImportPlace, type InstallationRows } from '../../../ports/installation-rows.ts';
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
  /** A server runs on the file. */
  readonly isShared: boolean;
  readonly close: () => Promise<void>;
}

/** The rows of an embedded installation, over the connection of the file: in a transaction that reads, as they were when it began. */
export function sqliteInstallationRows({
  file,
  collections,
  dataDir,
  isShared,
  close,
}: SqliteInstallationOptions): InstallationRows {
  const placeFile = placeFileOf(dataDir);
  const statement = statementCache(file.db);
  const all = (sql: string, ...bound: SQLInputValue[]) => statement(sql).all(...bound) as unknown as SQLInputValue[][];
  const run = (sql: string, ...bound: SQLInputValue[]) => void statement(sql).run(...bound);
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
    importPlace: async () => readImportPlace(placeFile),
    keepImportPlace: async (place) => {
      // As a whole or not at all: a place that cannot be read would end the import for good.
      writeFileSync(`${placeFile}.new`, JSON.stringify(place), { flush: true });
      renameSync(`${placeFile}.new`, placeFile);
    },
    finishImport: async (ends) => {
      const base = baseAbove(Math.max(...ends) - 1);
      await file.write(() => {
        run('UPDATE log_end SET position = max(position, ?)', base);
        // What was moved has been pushed, or never will be.
        for (const group of logGroups) {
          run(
            'INSERT INTO consumer_positions (group_name, partition, position) VALUES (?, 0, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
            group,
            base,
          );
        }
      });
      rmSync(placeFile, { force: true });
    },
    state: async () => ({ obstacles: [], notes: isShared ? [sharedNote] : [] }),
    close,
  };
}

const sharedNote =
  'a server runs on this directory: what it takes from now on is not in the export. To move, stop it first';

const placeFileOf = (dataDir: string): string => join(dataDir, 'import.json');

/** Refuses a directory that an import is not finished in. */
export function requireNoImport(dataDir: string): void {
  if (readImportPlace(placeFileOf(dataDir)) === null) return;
  throw new Error(
    `An import into ${dataDir} is not finished: run the same \`tocsin import\` again, or remove the directory`,
  );
}

/** Takes the directory, and gives back what frees it; null for an export beside a server that has it. */
export function takeInstallation(dataDir: string, purpose: 'export' | 'import'): (() => void) | null {
  if (purpose === 'import') return lockDataDir(dataDir);
  requireNoImport(dataDir);
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof DataDirInUse) return null;
    throw error;
  }
}

/** The place of an import that is not finished, or null. */
function readImportPlace(placeFile: string): ImportPlace | null {
  return existsSync(placeFile) ? (JSON.parse(readFileSync(placeFile, 'utf8')) as ImportPlace) : null;
}
