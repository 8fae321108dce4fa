import type { Bus } from './ports/bus.ts';
import type { Deliveries } from './ports/deliveries.ts';
import type { Documents } from './ports/documents.ts';
import type { EventLog } from './ports/event-log.ts';
import type { JobQueue } from './ports/job-queue.ts';
import type { Messages } from './ports/messages.ts';

/** What an installation runs on: the six ports, on Kafka, MongoDB and Redis or on one SQLite file. */
export interface Engine {
  readonly kind: 'embedded' | 'cluster';
  readonly eventLog: EventLog;
  readonly messages: Messages;
  readonly deliveries: Deliveries;
  readonly documents: Documents;
  readonly jobQueue: JobQueue;
  readonly bus: Bus;
  /** The secrets that sign access tokens; the first signs, all verify. */
  readonly jwtSecrets: readonly string[];
  close(): Promise<void>;
}
