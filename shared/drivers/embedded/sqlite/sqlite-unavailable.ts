import { unavailable } from '../../../domain/errors.ts';

/** SQLite's result codes for a file that cannot be used now: busy, locked, read-only, I/O error, full, cannot open. */
const passing: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14]);

/** The error to throw for one that SQLite gave: AppError `unavailable` where a later try can succeed, else the same. */
export function sqliteUnavailable(error: unknown): unknown {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  // The low byte is the primary code, whatever the extended one adds.
  return typeof code === 'number' && passing.has(code & 0xff) ? unavailable('Database', error) : error;
}
