import type { Engine } from '../../ports/engine.ts';
import { withClosers } from '../../platform/lifecycle.ts';
import type { RecipientCollections } from '../../ports/deliveries.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import { openBullmqJobQueue } from './bullmq-job-queue.ts';
import { openKafkaEventLog } from './kafka-event-log.ts';
import { openMongoDeliveries } from './mongo-deliveries.ts';
import { openMongoMessages } from './mongo-messages.ts';
import { openClusterStores, type ClusterStoresOptions } from './open-cluster-stores.ts';

export interface ClusterOptions extends ClusterStoresOptions {
  readonly recipients: RecipientCollections;
  readonly jwtSecrets: readonly string[];
}

/**
 * Opens the engine on Kafka, MongoDB and Redis. Throws a sentence that names the part when Kafka or MongoDB cannot be
 * reached; Redis may be away, what needs it follows when it comes.
 */
export function openCluster(options: ClusterOptions): Promise<Engine> {
  const { stores, clock, log, kafka } = options;
  return withClosers(async (own) => {
    const { connection, documents, bus } = await openClusterStores(own, options);
    const messages = await openMongoMessages({ connection, clock, log });
    own.add(() => messages.close());
    const deliveries = await openMongoDeliveries({ connection, ...options.recipients });
    own.add(() => deliveries.close());
    const jobQueue = await openClusterJobQueue(options);
    own.add(() => jobQueue.close());
    const eventLog = await openKafkaEventLog({
      brokers: stores.kafkaBrokers, tls: stores.kafkaTls, sasl: stores.kafkaSasl, clientId: 'tocsin', ...kafka, log,
    });
    own.add(() => eventLog.close());
    return {
      kind: 'cluster', eventLog, messages, deliveries, documents, jobQueue, bus, jwtSecrets: options.jwtSecrets,
      close: () => own.closeAll(),
    };
  });
}

/** Opens the jobs alone. */
export function openClusterJobQueue({ stores, kafka, log, clock }: Pick<ClusterOptions, 'stores' | 'kafka' | 'log' | 'clock'>): Promise<JobQueue> {
  return openBullmqJobQueue({ url: stores.redisUrl, prefix: `${kafka.topic}:jobs`, log, clock });
}
