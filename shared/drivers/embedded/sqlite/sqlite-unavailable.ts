import { unavailable } from '../../../domain/errors.ts';

/** SQLite's result codes for a temporarily unusable file: busy, locked, read-only, I/O error, full, cannot open. */
const temporaryErrorCodes: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14]);

/** Maps a SQLite error: AppError `unavailable` if a retry can succeed, otherwise the same error. */
export function sqliteUnavailable(error: unknown): unknown {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  // The low byte is the primary code.
  return typeof code === 'number' && temporaryErrorCodes.has(code & 0xff) ? unavailable('Database', error) : error;
}
