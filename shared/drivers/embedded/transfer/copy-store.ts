import { existsSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { writeNewFile } from '../../../platform/write-new-file.ts';
import type { CopyProgress, CopyReport } from '../../../ports/backup.ts';
import { markAsCopy } from './log-after-copy.ts';
import { schemaVersionOf } from '../sqlite/migrations.ts';

/** Pages of 4 KiB between two looks at how far it is: some 4 ms each. */
const pagesPerStep = 1_024;
/** What SQLite has beside a database. */
const sqliteFiles = ['-wal', '-shm', '-journal'];

export interface CopyOptions {
  readonly from: string;
  /** Must not exist, nor SQLite's files beside it. */
  readonly to: string;
  /** Of the newest schema that this program knows; undefined: a store of a newer one is copied, too. */
  readonly schemaVersionMax?: number;
  readonly onProgress: (progress: CopyProgress) => void;
}

/**
 * Copies a store's file, also while a server writes to it: the copy is the store as it was at one moment after the call, with all
 * that was committed before. It is one file without a write-ahead log, readable by its owner alone, checked by SQLite's
 * `integrity_check`, on disk, and under its name only when all of that is done. Throws a sentence for the operator, and leaves
 * nothing then.
 *
 * SQLite's online backup begins anew when another connection writes, which under load is for ever (measured: 1,700 times in 8
 * seconds). So a read transaction is held over all of it: it reads one state, in as many steps as that has pages, and the server
 * goes on writing. Its write-ahead log keeps what was written meanwhile until then.
 */
export async function copyStore({ from, to, schemaVersionMax, onProgress }: CopyOptions): Promise<CopyReport> {
  if (!existsSync(from)) throw new Error(`${from} does not exist: there is nothing to copy`);
  await writeNewFile(
    to,
    async (partial) => {
      const source = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
      try {
        source.exec('BEGIN');
        checkIsStore(source, from, schemaVersionMax);
        const pages = await backup(source, partial, {
          rate: pagesPerStep,
          progress: ({ totalPages, remainingPages }) =>
            onProgress({ done: totalPages - remainingPages, total: totalPages }),
        });
        onProgress({ done: pages, total: pages });
      } finally {
        source.close();
      }
      finish(partial);
    },
    sqliteFiles,
  );
  return { from, to, bytes: statSync(to).size };
}

/** The first read of the transaction: what it sees stays. */
function checkIsStore(db: DatabaseSync, path: string, versionMax: number | undefined): void {
  let version: number;
  try {
    version = schemaVersionOf(db);
    if (version === 0 || db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'log_end'`).get() === undefined)
      throw new Error('it has no log');
  } catch (error) {
    throw new Error(`${path} is no store of Tocsin: ${(error as Error).message}`, { cause: error });
  }
  if (versionMax !== undefined && version > versionMax) {
    throw new Error(`${path} has schema ${version}, this program knows ${versionMax}: take a newer Tocsin`);
  }
}

/** Makes it one file, marks it and checks it. */
function finish(path: string): void {
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL');
    markAsCopy(db);
    const faults = faultsOf(db);
    if (faults.length > 0)
      throw new Error(`the copy is damaged, as its source may be: ${faults.slice(0, 3).join('; ')}`);
  } finally {
    db.close();
  }
}

function faultsOf(db: DatabaseSync): string[] {
  try {
    return db
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => String(Object.values(row)[0]))
      .filter((fault) => fault !== 'ok');
  } catch (error) {
    return [(error as Error).message];
  }
}
