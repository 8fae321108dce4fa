import type { Engine } from '../../ports/engine.ts';
import type { Clock } from '../../platform/clock.ts';
import { withClosers } from '../../platform/lifecycle.ts';
import type { ClusterConfig } from '../../platform/load-config.ts';
import type { Log } from '../../platform/log.ts';
import type { RecipientCollections } from '../../ports/deliveries.ts';
import type { AnyCollection } from '../../ports/document-checks.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import { openBullmqJobQueue } from './bullmq-job-queue.ts';
import { openKafkaEventLog } from './kafka-event-log.ts';
import type { KafkaTopicOptions } from './kafka-topic.ts';
import { openMongo } from './mongo-connection.ts';
import { openMongoDeliveries } from './mongo-deliveries.ts';
import { openMongoDocuments } from './mongo-documents.ts';
import { openMongoMessages } from './mongo-messages.ts';
import { openRedisBus } from './redis-bus.ts';

export interface ClusterOptions {
  readonly stores: ClusterConfig;
  /** The topic's name also sets this installation apart from others on the same Redis. */
  readonly kafka: KafkaTopicOptions;
  readonly collections: readonly AnyCollection[];
  readonly recipients: RecipientCollections;
  readonly jwtSecrets: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Opens the engine on Kafka, MongoDB and Redis. Throws a sentence that names the part when Kafka or MongoDB cannot be
 * reached; Redis may be away, what needs it follows when it comes.
 */
export function openCluster(options: ClusterOptions): Promise<Engine> {
  const { stores, clock, log, kafka } = options;
  return withClosers(async (own) => {
    const connection = await openMongo(stores.mongoUrl, { log });
    own.add(() => connection.close());
    const documents = await openMongoDocuments({ connection, collections: options.collections, log });
    own.add(() => documents.close());
    const messages = await openMongoMessages({ connection, clock, log });
    own.add(() => messages.close());
    const deliveries = await openMongoDeliveries({ connection, ...options.recipients });
    own.add(() => deliveries.close());
    const bus = await openRedisBus({ url: stores.redisUrl, keyPrefix: `${kafka.topic}:`, clock, log });
    own.add(() => bus.close());
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
