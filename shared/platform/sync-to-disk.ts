import { open } from 'node:fs/promises';

/** Resolves when the content of a file, or the entries of a directory, are on disk. */
export async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
