import type { SqliteFile } from './sqlite-file.ts';

/** Free pages kept for new data, 4 MiB, so that the file does not shrink and grow with every message. */
const reservedPages = 1_024;
/** Pages released per write: some milliseconds, which publishes may have to wait. */
const pagesPerWrite = 64;

/**
 * Releases free pages to the operating system, after moving used pages away from the end of the file. Resolves with the
 * number of released pages; 0 if few are free, or if the file is too old to shrink. The file shrinks with the next
 * checkpoint.
 */
export function sqliteFreePages(file: SqliteFile): () => Promise<number> {
  const { db } = file;
  const counting = db.prepare('PRAGMA freelist_count');
  const countFree = (): number => counting.get()!['freelist_count'] as number;
  return () =>
    file.writeBulk(() => {
      const free = countFree();
      if (free <= reservedPages) return 0;
      db.exec(`PRAGMA incremental_vacuum(${Math.min(pagesPerWrite, free - reservedPages)})`);
      return free - countFree();
    });
}
