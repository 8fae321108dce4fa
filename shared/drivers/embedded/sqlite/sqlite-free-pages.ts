import type { SqliteFile } from './sqlite-file.ts';

/** Pages kept for what is written next, 4 MiB. Harm prevented: a file that shrinks and grows with every message. */
const keptPages = 1_024;
/** Pages given back in a write: some milliseconds, which is how long a publish may have to wait for it. */
const pagesAtOnce = 64;

/**
 * Gives free pages of the file back to the system, from its end: what lies there moves into pages that are free. Resolves with how many,
 * 0 when few are free or the file was made before it could shrink. The file itself gets smaller with the next checkpoint.
 */
export function sqliteFreePages(file: SqliteFile): () => Promise<number> {
  const { db } = file;
  const counting = db.prepare('PRAGMA freelist_count');
  const countFree = (): number => counting.get()!['freelist_count'] as number;
  return () =>
    file.writeBulk(() => {
      const free = countFree();
      if (free <= keptPages) return 0;
      db.exec(`PRAGMA incremental_vacuum(${Math.min(pagesAtOnce, free - keptPages)})`);
      return free - countFree();
    });
}
