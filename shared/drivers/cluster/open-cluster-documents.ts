import { withClosers } from '../../platform/lifecycle.ts';
import type { Bus } from '../../ports/bus/bus.ts';
import type { Documents } from '../../ports/documents.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Messages } from '../../ports/messages/messages.ts';
import { openClusterStores, type ClusterStoresOptions } from './open-cluster-stores.ts';

/**
 * Opens the documents, and on request the bus, the jobs and the messages, for the command line. Nodes may run. Loads
 * the clients of Redis and Kafka only if needed.
 */
export function openClusterDocuments(options: ClusterStoresOptions): Promise<{
  documents: Documents;
  openBus: () => Promise<Bus>;
  openJobQueue: () => Promise<JobQueue>;
  openMessages: () => Promise<Messages>;
  close(): Promise<void>;
}> {
  return withClosers(async (own) => {
    const { connection, documents } = await openClusterStores(own, options);
    const newBus = async (): Promise<Bus> => {
      const { openClusterBus } = await import('./open-cluster-bus.ts');
      const bus = await openClusterBus(options);
      own.add(() => bus.close());
      return bus;
    };
    let bus: Promise<Bus> | undefined;
    const openBus = () => (bus ??= newBus());
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
    return { documents, openBus, openJobQueue, openMessages, close: () => own.closeAll() };
  });
}
