import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { syncToDisk } from './sync-to-disk.ts';

export interface WholeFileOptions {
  /** Whether an existing file is replaced; otherwise it is an error. */
  readonly mayReplace?: boolean;
  /**
   * Suffixes of companion files that `write` may leave. They must not exist next to the finished file, because stale
   * companions would be read as its own.
   */
  readonly companionSuffixes?: readonly string[];
}

/**
 * Writes a file under a temporary name and renames it once it is complete and on disk, so that readers never see a
 * partial file. Only its owner can read it. Resolves with the result of `write`. Throws an error for the operator if
 * the path exists or cannot be written, and rethrows the errors of `write`; leaves no new file in either case.
 */
export async function writeWholeFile<T>(
  path: string,
  write: (partial: string) => Promise<T>,
  { mayReplace = false, companionSuffixes = [] }: WholeFileOptions = {},
): Promise<T> {
  if (!mayReplace) requireFreePath(path, companionSuffixes);
  const partial = `${path}.${process.pid}.partial`;
  const folder = dirname(resolve(path));
  const handle = await open(partial, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${folder} cannot be written (${error.code}): choose another path`, { cause: error });
  });
  try {
    await handle.close();
    const value = await write(partial);
    await syncToDisk(partial);
    if (!mayReplace) requireFreePath(path, companionSuffixes);
    await rename(partial, path);
    await syncToDisk(folder);
    return value;
  } finally {
    for (const suffix of ['', ...companionSuffixes]) await rm(partial + suffix, { force: true });
  }
}

function requireFreePath(path: string, companionSuffixes: readonly string[]): void {
  const taken = ['', ...companionSuffixes].map((suffix) => path + suffix).find(existsSync);
  if (taken !== undefined) throw new Error(`${taken} already exists: move it, or choose another path`);
}
