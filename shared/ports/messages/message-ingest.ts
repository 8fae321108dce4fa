import type { PlacedRecord } from '../../domain/messages/log-record.ts';

/** Writes records of the event log to the message store. */
export interface MessageIngest {
  /**
   * Writes records with their offsets in bulk. Ignores a duplicate: a record whose message ID is stored at a lower
   * offset (from a retried send). Ignores edits and deletions older than the stored state. Only for records above
   * the watermark: below it, messages are counted already, and `apply` does not count the new ones. Throws AppError
   * `unavailable`.
   */
  apply(records: readonly PlacedRecord[]): Promise<void>;

  /**
   * The fan-out's step for a batch of one partition, in order: writes records that `apply` has not written yet, and
   * resolves with the records except duplicates and expired messages, each with the offset of the topic's previous
   * record (null for the first one in the store). A process that restores records below the watermark
   * calls it as well, because it counts them.
   */
  reconcile(partition: number, records: readonly PlacedRecord[]): Promise<ReconciledRecord[]>;

  /** Returns the watermark: all records up to this offset, inclusive, are stored. Starts at -1 and never decreases. */
  watermark(partition: number): Promise<number>;

  /** Advances the watermark. Ignores an offset lower than the stored one. */
  moveWatermark(partition: number, offset: number): Promise<void>;
}

export interface ReconciledRecord extends PlacedRecord {
  readonly previousOffset: number | null;
}
