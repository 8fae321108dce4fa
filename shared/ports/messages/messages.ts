import type { MessageIngest } from './message-ingest.ts';
import type { MessageReads } from './message-reads.ts';
import type { MessageRetention } from './message-retention.ts';
import type { MessageSearch } from './message-search.ts';

/**
 * The message store: a view of the event log, readable by topic, time and offset. Depend on the narrowest of its
 * interfaces.
 *
 * Guarantees: applying a record is idempotent and independent of order (records may be applied in any order and any
 * number of times, with the same result). Records survive a crash of the process once `apply` resolved. Reads never
 * return expired messages (`expiresAt <= now`), and return deleted ones only where documented.
 *
 * A deletion is final, even against a later edit in the log. A record of an expired message only updates the topic's
 * last offset and time, so a replay does not restore removed messages.
 *
 * Offsets of a topic are offsets of its partition. Above the partition's watermark, records can be missing for a
 * moment. `History` in shared/operations/messages provides reads that never skip such a gap.
 */
export interface Messages extends MessageIngest, MessageReads, MessageSearch, MessageRetention {
  /** Resolves if the store responds within two seconds; throws otherwise. */
  ping(): Promise<void>;

  close(): Promise<void>;
}
