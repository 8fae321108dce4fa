import type { Connection } from 'mongoose';
import type { Clock } from '../../platform/clock.ts';
import type { Closers } from '../../platform/lifecycle.ts';
import type { ClusterConfig } from '../../platform/load-config.ts';
import type { Logger } from '../../platform/logger.ts';
import type { AnyCollection } from '../../ports/document-checks.ts';
import type { KafkaTopicOptions } from './kafka/kafka-topic.ts';
import { requireCompleteRestore } from './mongo/transfer/copy-mongo-store.ts';
import { openMongo } from './mongo/mongo-connection.ts';
import { openMongoDocuments, type MongoDocuments } from './mongo/documents/mongo-documents.ts';

/** The configuration of an installation's stores, for nodes and the command line. */
export interface ClusterStoresOptions {
  readonly stores: ClusterConfig;
  /** The prefix of Redis keys and channels. The topic's name also separates installations on the same Redis server. */
  readonly kafka: KafkaTopicOptions;
  readonly collections: readonly AnyCollection[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens MongoDB and the documents; `own` closes them. */
export async function openClusterStores(
  own: Closers,
  options: ClusterStoresOptions,
): Promise<{ connection: Connection; documents: MongoDocuments }> {
  const { stores, log, collections } = options;
  const connection = await openMongo(stores.mongoUrl, { log });
  own.add(() => connection.close());
  await requireCompleteRestore(connection);
  const documents = await openMongoDocuments({ connection, collections, log });
  own.add(() => documents.close());
  return { connection, documents };
}
