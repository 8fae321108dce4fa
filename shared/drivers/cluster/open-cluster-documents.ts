import { withClosers } from '../../platform/lifecycle.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Documents } from '../../ports/documents.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import { openClusterStores, type ClusterStoresOptions } from './open-cluster-stores.ts';

/**
 * Opens the documents and the bus, and the jobs where they are asked for, beside running nodes: for the command line, which
 * loads the clients of Kafka and of the jobs only then.
 */
export function openClusterDocuments(
  options: ClusterStoresOptions,
): Promise<{ documents: Documents; bus: Bus; openJobQueue: () => Promise<JobQueue>; close(): Promise<void> }> {
  return withClosers(async (own) => {
    const { documents, bus } = await openClusterStores(own, options);
    const openJobQueue = async (): Promise<JobQueue> => {
      const { openClusterJobQueue } = await import('./open-cluster.ts');
      const jobQueue = await openClusterJobQueue(options);
      own.add(() => jobQueue.close());
      return jobQueue;
    };
    return { documents, bus, openJobQueue, close: () => own.closeAll() };
  });
}
