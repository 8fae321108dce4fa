import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Has a file written under another name, and gives it its own once it is complete and on disk: whoever finds it finds all of
 * it. It is readable by its owner alone, and nothing is overwritten. Throws a sentence for the operator where the place is taken or cannot
 * be written, and else what `write` throws; nothing is left then.
 *
 * `beside` are endings of files that `write` may leave beside its own, and that must not stand beside the finished one: those
 * of another age would be taken for its.
 */
export async function writeNewFile<T>(
  path: string,
  write: (partial: string) => Promise<T>,
  beside: readonly string[] = [],
): Promise<T> {
  refuseTaken(path, beside);
  const partial = `${path}.${process.pid}.partial`;
  const folder = dirname(resolve(path));
  const made = await open(partial, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${folder} cannot be written (${error.code}): choose another place`, { cause: error });
  });
  try {
    await made.close();
    const value = await write(partial);
    await toDisk(partial);
    refuseTaken(path, beside);
    await rename(partial, path);
    await toDisk(folder);
    return value;
  } finally {
    for (const ending of ['', ...beside]) await rm(partial + ending, { force: true });
  }
}

function refuseTaken(path: string, beside: readonly string[]): void {
  const taken = ['', ...beside].map((ending) => path + ending).find(existsSync);
  if (taken !== undefined)
    throw new Error(`${taken} exists, and nothing is overwritten: move it away, or choose another place`);
}

async function toDisk(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
