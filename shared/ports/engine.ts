import type { VapidKeys } from '../domain/push/vapid-keys.ts';
import type { AnnouncedChanges } from './announced-changes.ts';
import type { Bus } from './bus/bus.ts';
import type { Deliveries } from './deliveries.ts';
import type { Documents } from './documents.ts';
import type { EventLog } from './event-log.ts';
import type { JobQueue } from './job-queue.ts';
import type { Messages } from './messages/messages.ts';

/** The ports of an installation, implemented on Kafka, MongoDB and Redis, or on one SQLite file. */
export interface Engine {
  readonly kind: 'embedded' | 'cluster';
  readonly eventLog: EventLog;
  readonly messages: Messages;
  readonly deliveries: Deliveries;
  readonly documents: Documents;
  readonly jobQueue: JobQueue;
  readonly bus: Bus;
  readonly storage: StorageFeatures;
  /** Secrets of access tokens: the first one signs, all of them verify. */
  readonly jwtSecrets: readonly string[];
  /** Undefined if pushes to browsers are off. */
  readonly vapidKeys: VapidKeys | undefined;
  close(): Promise<void>;
}

/** Optional features: each is absent on an engine that does not need it. */
export interface StorageFeatures {
  /** Returns the store's time in milliseconds since the epoch. Absent if the store uses the clock of this process. */
  readonly time?: () => Promise<number>;

  /**
   * Returns a stamp that changes with every write to one of the collections, by any process. Values cached under an
   * equal stamp are current. Absent if the store cannot report writes without a query.
   */
  readonly changeStamp?: (collections: readonly { readonly name: string }[]) => string;

  /**
   * Resolves with the cached documents whose changes were announced after the position; null if the reader has no
   * position yet. Every process announces a change before it writes it, except of `lateFields`, and writes it within
   * `announcedAheadMsMax` or announces it again. So a value may be cached if it was read later than that after the last
   * announcement of its document. Throws `unavailable`. Absent if reading a document costs no more.
   */
  readonly changesSince?: (position: string | null) => Promise<AnnouncedChanges>;

  /**
   * Releases some free space to the operating system, in steps so short that other writes do not wait. Resolves with
   * the number of released pages, 0 when done. Absent if the store reuses free space itself.
   */
  readonly reclaimSpace?: () => Promise<number>;
}
