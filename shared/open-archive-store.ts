import type { Config } from './platform/load-config.ts';
import type { ArchiveStore } from './ports/archive-store.ts';

/**
 * Opens the configured archive; null without `ARCHIVE_URL`. Loads only the packages of its kind. Does not connect
 * yet: a store that cannot be used throws with its first operation.
 */
export async function openArchiveStore({ archive }: Pick<Config, 'archive'>): Promise<ArchiveStore | null> {
  if (archive === undefined) return null;
  if (archive.kind === 'files') {
    const { openFileArchive } = await import('./drivers/archive/open-file-archive.ts');
    return openFileArchive(archive.dir);
  }
  const { openS3Archive } = await import('./drivers/archive/open-s3-archive.ts');
  return openS3Archive(archive);
}
