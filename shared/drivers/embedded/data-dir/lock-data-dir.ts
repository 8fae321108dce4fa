import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { keepPrivate } from '../../../platform/keep-private.ts';

/** The directory is locked by another running Tocsin. */
export class DataDirInUse extends Error {
  constructor(dir: string, holder: string) {
    super(`${dir} is in use by another Tocsin${holder}: stop it first, or set DATA_DIR to another directory`);
    this.name = 'DataDirInUse';
  }
}

/**
 * Creates the directory, accessible only to its owner, and locks it for this process; resolves with the unlock
 * function. Throws DataDirInUse. Uses SQLite's file lock, which the operating system releases when the process ends for
 * any reason.
 */
export function lockDataDir(dir: string): () => void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  keepPrivate(dir);
  const holderFile = join(dir, 'lock.pid');
  const lock = new DatabaseSync(join(dir, 'lock.db'), { timeout: 0 });
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch {
    lock.close();
    throw new DataDirInUse(dir, readHolder(holderFile));
  }
  writeFileSync(holderFile, `${process.pid}\n`);
  return () => {
    lock.exec('ROLLBACK');
    lock.close();
  };
}

function readHolder(file: string): string {
  try {
    return ` (process ${readFileSync(file, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
