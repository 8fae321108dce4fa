import type { DatabaseSync } from 'node:sqlite';
import { baseAfterRestore } from '../../../domain/log/base-after-restore.ts';
import { toIso } from '../../../domain/to-iso.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import { sqliteMessageWriter } from '../messages/sqlite-message-writer.ts';

/** SQLite's `application_id` of an unmodified copy: "TocB". */
const copyId = 0x546f6342;

/** Marks the file as a copy of a store whose original may have changed since. */
export function markAsCopy(db: DatabaseSync): void {
  db.exec(`PRAGMA application_id = ${copyId}`);
}

/**
 * Moves the log of a copy, once, above every offset that its original or another copy has assigned up to now, so that
 * no offset is assigned twice and resuming readers miss nothing. Call it before the log is opened, with the directory
 * locked. Throws if this machine's clock is earlier than the newest message.
 */
export function continueLogAfterCopy(db: DatabaseSync, { clock, log }: { clock: Clock; log: Logger }): void {
  const { application_id: id } = db.prepare('PRAGMA application_id').get() as { application_id: number };
  if (id !== copyId) return;
  const now = clock();
  const newest = db.prepare('SELECT timestamp FROM messages ORDER BY offset DESC LIMIT 1').get() as
    { timestamp: number } | undefined;
  if (newest !== undefined && newest.timestamp > now) {
    throw new Error(
      `the restored store has a message from ${toIso(newest.timestamp)}, but the clock shows ${toIso(now)}: correct the clock first`,
    );
  }
  db.exec('BEGIN IMMEDIATE');
  const offset = baseAfterRestore(sqliteMessageWriter(db, clock).end() - 1, now);
  db.prepare('UPDATE log_end SET position = ?').run(offset);
  db.exec('PRAGMA application_id = 0; COMMIT');
  log.warn(
    { offset, newest: newest === undefined ? null : toIso(newest.timestamp) },
    'store restored from a backup, its log continues at a new offset',
  );
}
