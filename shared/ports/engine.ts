import type { Bus } from './bus/bus.ts';
import type { Deliveries } from './deliveries.ts';
import type { Documents } from './documents.ts';
import type { EventLog } from './event-log.ts';
import type { JobQueue } from './job-queue.ts';
import type { Messages } from './messages/messages.ts';

/** The ports of an installation, implemented on Kafka, MongoDB and Redis or on one SQLite file. */
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
  close(): Promise<void>;
}

/** Features that only one of the engines has; absent on the other one. */
export interface StorageFeatures {
  /** Returns the store's time in milliseconds since the epoch. Absent if the store uses the clock of this process. */
  readonly time?: () => Promise<number>;

  /**
   * Returns a stamp that changes with every write to any of the collections by any process: reads cached under an equal
   * stamp are current. Absent if the store cannot report writes without a query.
   */
  readonly changeStamp?: (collections: readonly { readonly name: string }[]) => string;

  /**
   * Releases a small part of the free space to the system, so small that other writes do not wait. Resolves with the number
   * of released pages, 0 at the end. Absent if the store reuses free space itself.
   */
  readonly reclaimSpace?: () => Promise<number>;
}
