import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncToDisk } from '../../platform/sync-to-disk.ts';
import { checkArchiveKey, type ArchiveStore } from '../../ports/archive-store.ts';
import { archiveFailure } from './archive-failure.ts';

/** Temporary files begin with a dot, which keys do not. */
const partialPattern = /^\..+\.partial$/;
/** A writer that still lives has written within this time. */
const partialAgeMaxMs = 86_400_000;

/**
 * Opens an archive in a directory, which is created with the first object. Directories and files are readable by their
 * owner only. A crash during a write can leave a temporary file, which a listing removes a day later.
 */
export function openFileArchive(dir: string): ArchiveStore {
  const pathOf = (key: string): string => {
    checkArchiveKey(key);
    return join(dir, key);
  };
  return {
    put: (key, body) => writeObject(pathOf(key), body),
    async get(key) {
      const path = pathOf(key);
      return (await orUnavailable(isFile(path))) ? readObject(path) : null;
    },
    list: (prefix) => listKeys(dir, prefix),
    remove: (key) => removeObject(pathOf(key)),
    close: () => Promise.resolve(),
  };
}

async function writeObject(path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const folder = dirname(path);
  const partial = join(folder, `.${randomUUID()}.partial`);
  await orUnavailable(makeFolder(folder));
  try {
    const file = await orUnavailable(open(partial, 'wx', 0o600));
    await writeAll(file, body);
    await orUnavailable(rename(partial, path));
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined); // The first error is the one to report.
    throw error;
  }
  await orUnavailable(syncToDisk(folder));
}

async function writeAll(file: FileHandle, body: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of body) await orUnavailable(file.appendFile(chunk));
    await orUnavailable(file.sync());
  } finally {
    await file.close();
  }
}

/** Creates missing directories durably: each is on disk when its entry in the parent is. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; ; made = dirname(made)) {
    await syncToDisk(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}

async function* readObject(path: string): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of createReadStream(path)) yield chunk as Uint8Array;
  } catch (error) {
    throw fileFailure(error);
  }
}

/** Walks the directories in the order of keys: a directory is compared with its slash. */
async function* listKeys(dir: string, prefix: string, base = ''): AsyncGenerator<string, void> {
  const entries = await orUnavailable(readFolder(join(dir, base)));
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort(byCharacters);
  for (const name of names) {
    const key = base + name;
    if (partialPattern.test(name)) await removeAbandoned(join(dir, key));
    else if (!name.endsWith('/')) {
      if (key.startsWith(prefix)) yield key;
    } else if (key.startsWith(prefix) || prefix.startsWith(key)) yield* listKeys(dir, prefix, key);
  }
}

const byCharacters = (one: string, other: string): number => (one < other ? -1 : 1);

async function readFolder(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function removeAbandoned(partial: string): Promise<void> {
  // The file can be renamed or removed meanwhile.
  const writtenAt = await stat(partial).then(({ mtimeMs }) => mtimeMs, Date.now);
  if (Date.now() - writtenAt > partialAgeMaxMs) await orUnavailable(rm(partial, { force: true }));
}

async function removeObject(path: string): Promise<'removed' | 'locked'> {
  try {
    await rm(path);
    await syncToDisk(dirname(path));
  } catch (error) {
    // Linux returns EPERM for a file with the attribute `immutable`, the lock of a file system.
    if ((error as NodeJS.ErrnoException).code === 'EPERM') return 'locked';
    if (!isMissing(error)) throw fileFailure(error);
  }
  return 'removed';
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

const fileFailure = (error: unknown) => archiveFailure((error as NodeJS.ErrnoException).message, error);

async function orUnavailable<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw fileFailure(error);
  }
}
