import type { Connection } from 'mongoose';
import { openLogger } from '../../platform/logger.ts';
import type { ClusterConfig } from '../../platform/load-config.ts';
import { removeTopic } from './kafka/kafka-event-log.place.ts';
import { openMongo } from './mongo/mongo-connection.ts';
import { deleteKeys } from './redis/redis-bus.place.ts';

/** Removes a test installation from the engines: its database, topic and keys. */
export function removeInstallation(cluster: ClusterConfig, kafkaTopic: string): Promise<void> {
  return remove(cluster, kafkaTopic, async (connection) => void (await connection.dropDatabase()));
}

/** Like `removeInstallation`, but keeps the collections of the database, empty and with their indexes. */
export function emptyInstallation(cluster: ClusterConfig, kafkaTopic: string): Promise<void> {
  return remove(cluster, kafkaTopic, async (connection) => {
    const collections = await connection.db!.collections();
    await Promise.all(collections.map((collection) => collection.deleteMany({})));
  });
}

async function remove(
  { kafkaBrokers, mongoUrl, redisUrl }: ClusterConfig,
  kafkaTopic: string,
  removeDocuments: (connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await openMongo(mongoUrl, { log: openLogger('test', 'silent') });
  await removeDocuments(connection);
  await connection.close();
  await removeTopic(kafkaBrokers.join(','), kafkaTopic);
  await deleteKeys(redisUrl, `${kafkaTopic}:`);
}
