import type { Connection } from 'mongoose';
import { openLogger } from '../../platform/logger.ts';
import type { ClusterConfig } from '../../platform/load-config.ts';
import { whenAvailable } from '../../testing/when-available.ts';
import { removeTopic } from './kafka/kafka-event-log.place.ts';
import { openMongo } from './mongo/mongo-connection.ts';
import { deleteKeys } from './redis/redis-bus.place.ts';

/**
 * Removes a test installation from the engines: its database, topic and keys. With `keepsCollections`, the collections
 * of the database remain, empty and with their indexes.
 */
export async function removeInstallation(
  { kafkaBrokers, mongoUrl, redisUrl }: ClusterConfig,
  kafkaTopic: string,
  { keepsCollections = false } = {},
): Promise<void> {
  const connection = await whenAvailable(() => openMongo(mongoUrl, { log: openLogger('test', 'silent') }));
  if (keepsCollections) await emptyCollections(connection);
  else await connection.dropDatabase();
  await connection.close();
  await removeTopic(kafkaBrokers.join(','), kafkaTopic);
  await deleteKeys(redisUrl, `${kafkaTopic}:`);
}

async function emptyCollections(connection: Connection): Promise<void> {
  const collections = await connection.db!.collections();
  await Promise.all(collections.map((collection) => collection.deleteMany({})));
}
