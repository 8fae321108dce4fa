import type { Bus } from './bus.ts';
import type { Deliveries } from './deliveries.ts';
import type { Documents } from './documents.ts';
import type { EventLog } from './event-log.ts';
import type { JobQueue } from './job-queue.ts';
import type { Messages } from './messages.ts';

/** The ports of an installation, implemented on Kafka, MongoDB and Redis or on one SQLite file. */
export interface Engine {
  readonly kind: 'embedded' | 'cluster';
  readonly eventLog: EventLog;
  readonly messages: Messages;
  readonly deliveries: Deliveries;
  readonly documents: Documents;
  readonly jobQueue: JobQueue;
  readonly bus: Bus;
  /** Secrets of access tokens: the first one signs, all of them verify. */
  readonly jwtSecrets: readonly string[];
  close(): Promise<void>;
}
