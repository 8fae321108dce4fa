import { withClosers } from '../../platform/lifecycle.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Documents } from '../../ports/documents.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import { openMongo } from './mongo-connection.ts';
import { openMongoDocuments } from './mongo-documents.ts';
import type { ClusterOptions } from './open-cluster.ts';
import { openRedisBus } from './redis-bus.ts';

/**
 * Opens the documents and the bus, and the jobs where they are asked for, beside running nodes: for the command line, which
 * loads the clients of Kafka and of the jobs only then.
 */
export function openClusterDocuments(
  options: Pick<ClusterOptions, 'stores' | 'kafka' | 'collections' | 'clock' | 'log'>,
): Promise<{ documents: Documents; bus: Bus; openJobQueue: () => Promise<JobQueue>; close(): Promise<void> }> {
  const { stores, clock, log, kafka } = options;
  return withClosers(async (own) => {
    const connection = await openMongo(stores.mongoUrl, { log });
    own.add(() => connection.close());
    const documents = await openMongoDocuments({ connection, collections: options.collections, log });
    own.add(() => documents.close());
    const bus = await openRedisBus({ url: stores.redisUrl, keyPrefix: `${kafka.topic}:`, clock, log });
    own.add(() => bus.close());
    const openJobQueue = async (): Promise<JobQueue> => {
      const { openClusterJobQueue } = await import('./open-cluster.ts');
      const jobQueue = await openClusterJobQueue(options);
      own.add(() => jobQueue.close());
      return jobQueue;
    };
    return { documents, bus, openJobQueue, close: () => own.closeAll() };
  });
}
