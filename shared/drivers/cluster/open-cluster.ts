import type { Connection } from 'mongoose';
import type { VapidKeys } from '../../domain/push/vapid-keys.ts';
import type { Engine } from '../../ports/engine.ts';
import { withClosers } from '../../platform/lifecycle.ts';
import type { RecipientCollections } from '../../ports/deliveries.ts';
import type { PubSub } from '../../ports/bus/pub-sub.ts';
import type { EventLog } from '../../ports/event-log.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import { openBullmqJobQueue } from './bullmq/bullmq-job-queue.ts';
import { requireKnownLog } from './check-log.ts';
import { kafkaConnection } from './kafka/kafka-connection.ts';
import { openKafkaEventLog } from './kafka/kafka-event-log.ts';
import { toUnavailable } from './mongo/mongo-connection.ts';
import { openMongoDeliveries } from './mongo/deliveries/mongo-deliveries.ts';
import { requireNoImport } from './mongo/transfer/mongo-installation-rows.ts';
import { baseOf, recordLog, readSeenLog } from './mongo/mongo-log-base.ts';
import { mongoTime } from './mongo/mongo-time.ts';
import { openMongoMessages } from './mongo/messages/mongo-messages.ts';
import { openClusterBus } from './open-cluster-bus.ts';
import { openClusterStores, type ClusterStoresOptions } from './open-cluster-stores.ts';

export interface ClusterOptions extends ClusterStoresOptions {
  readonly recipients: RecipientCollections;
  readonly jwtSecrets: readonly string[];
  readonly vapidKeys: VapidKeys | undefined;
}

/**
 * Opens the engine on Kafka, MongoDB and Redis. Throws an error that names the component if Kafka or MongoDB is
 * unreachable. Redis may be down; what depends on it starts when it recovers.
 */
export function openCluster(options: ClusterOptions): Promise<Engine> {
  const { clock, log } = options;
  return withClosers(async (own) => {
    const { connection, documents } = await openClusterStores(own, options);
    const bus = await openClusterBus(options);
    own.add(() => bus.close());
    const messages = await openMongoMessages({ connection, clock, log });
    own.add(() => messages.close());
    const deliveries = await openMongoDeliveries({ connection, ...options.recipients });
    own.add(() => deliveries.close());
    const jobQueue = await openClusterJobQueue(options);
    own.add(() => jobQueue.close());
    const eventLog = await openKnownLog({ connection, bus }, options);
    own.add(() => eventLog.close());
    return {
      kind: 'cluster',
      eventLog,
      messages,
      deliveries,
      documents,
      jobQueue,
      bus,
      storage: { time: () => mongoTime(connection), changesSince: documents.changesSince },
      jwtSecrets: options.jwtSecrets,
      vapidKeys: options.vapidKeys,
      close: () => own.closeAll(),
    };
  });
}

/**
 * Opens the log with the store's bases. Records it in a store without a log; throws if it does not belong to the store.
 */
async function openKnownLog(
  { connection, bus }: { connection: Connection; bus: PubSub },
  { stores, kafka, log }: Pick<ClusterOptions, 'stores' | 'kafka' | 'log'>,
): Promise<EventLog> {
  await requireNoImport(connection);
  const seen = await readSeenLog(connection);
  const eventLog = await openKafkaEventLog({
    ...kafkaConnection(stores, log),
    ...kafka,
    base: (partition) => baseOf(seen, partition),
    bus,
  });
  try {
    requireKnownLog(seen, eventLog, kafka.topic);
    if (seen.known === null)
      await recordLog(connection, {
        clusterId: eventLog.clusterId,
        bases: Array.from({ length: eventLog.partitions }, () => 0),
      });
    return eventLog;
  } catch (error) {
    await eventLog.close();
    throw toUnavailable(error);
  }
}

/** Opens only the job queue. */
export function openClusterJobQueue({
  stores,
  kafka,
  log,
  clock,
}: Pick<ClusterOptions, 'stores' | 'kafka' | 'log' | 'clock'>): Promise<JobQueue> {
  return openBullmqJobQueue({ url: stores.redisUrl, prefix: `${kafka.topic}:jobs`, log, clock });
}
