import type { PlacedRecord } from '../../../domain/messages/log-record.ts';

/**
 * The part of the embedded message store that the embedded event log uses. Log record and message are one row, so that
 * the text is stored once. All calls are synchronous.
 */
export interface RecordTable {
  /** Stores the records. Call inside a write of the SQLite file. */
  applySync(records: readonly PlacedRecord[]): void;
  /** Returns at most `limit` records from the offset, in order, each with the current state of its message. */
  readFrom(offset: number, limit: number): PlacedRecord[];
  /** The offset after the highest one ever assigned, even if its record was removed; 0 initially. */
  end(): number;
}
