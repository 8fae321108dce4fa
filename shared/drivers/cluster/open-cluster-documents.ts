import { withClosers } from '../../platform/lifecycle.ts';
import type { Bus } from '../../ports/bus/bus.ts';
import type { Documents } from '../../ports/documents.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Messages } from '../../ports/messages/messages.ts';
import { openClusterStores, type ClusterStoresOptions } from './open-cluster-stores.ts';

/**
 * Opens the documents and the bus, and on request the jobs and messages, for the command line. Nodes may run. Loads the
 * clients of Kafka and of the job queue only if needed.
 */
export function openClusterDocuments(options: ClusterStoresOptions): Promise<{
  documents: Documents;
  bus: Bus;
  openJobQueue: () => Promise<JobQueue>;
  openMessages: () => Promise<Messages>;
  close(): Promise<void>;
}> {
  return withClosers(async (own) => {
    const { connection, documents, bus } = await openClusterStores(own, options);
    const openJobQueue = async (): Promise<JobQueue> => {
      const { openClusterJobQueue } = await import('./open-cluster.ts');
      const jobQueue = await openClusterJobQueue(options);
      own.add(() => jobQueue.close());
      return jobQueue;
    };
    const openMessages = async (): Promise<Messages> => {
      const { openMongoMessages } = await import('./mongo/messages/mongo-messages.ts');
      const messages = await openMongoMessages({ connection, clock: options.clock, log: options.log });
      own.add(() => messages.close());
      return messages;
    };
    return { documents, bus, openJobQueue, openMessages, close: () => own.closeAll() };
  });
}
