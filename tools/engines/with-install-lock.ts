import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

/** Ten times the duration of an install without caches. */
const waitMsMax = 300_000;
const lookEveryMs = 100;
const sqliteBusy = 5;

/**
 * Runs `work` while holding the lock `name` in `dir`. The lock is SQLite's lock on a separate file. The kernel releases
 * it when the holder exits, so locks never become stale.
 */
export const withInstallLock = async <T>(dir: string, name: string, work: () => Promise<T>): Promise<T> => {
  const lock = new DatabaseSync(join(dir, `.${name}.lock`), { timeout: 0 });
  try {
    const deadline = Date.now() + waitMsMax;
    while (!tryLock(lock)) {
      if (Date.now() > deadline)
        throw new Error(`Another process has held the lock ${name} in ${dir} for ${waitMsMax / 1000} s`);
      await sleep(lookEveryMs);
    }
    return await work();
  } finally {
    lock.close();
  }
};

const tryLock = (lock: DatabaseSync): boolean => {
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === sqliteBusy) return false;
    throw error;
  }
};
