/** Announced changes of cached documents. */
export interface AnnouncedChanges {
  /** The position for the next call. */
  readonly position: string;
  /**
   * The `checksumOf` each document's ID, in order; 'all': any cached document may have changed. A checksum, because
   * announcements stay for longer than the ID of an erased account may.
   */
  readonly checksums: readonly number[] | 'all';
}

/** The longest time from the announcement of a change until it is written. */
export const announcedAheadMsMax = 90_000;
