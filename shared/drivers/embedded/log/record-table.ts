import type { PlacedRecord } from '../../../domain/messages/log-record.ts';

/**
 * The part of the embedded message store that the embedded event log writes and reads through: log record and message
 * are one transaction in one place, so the text is stored once. All calls are synchronous.
 */
export interface RecordTable {
  /** Stores the records; to be called inside a write of the SQLite file. */
  applySync(records: readonly PlacedRecord[]): void;
  /** Records from the position on, in order, at most `limit`, each with its message as it stands now. */
  readFrom(offset: number, limit: number): PlacedRecord[];
  /** One past the highest position that was ever given out, also when its record has been removed since; 0 at first. */
  end(): number;
}
