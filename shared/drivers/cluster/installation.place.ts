import { openLogger } from '../../platform/logger.ts';
import type { ClusterConfig } from '../../platform/load-config.ts';
import { removeTopic } from './kafka/kafka-event-log.place.ts';
import { openMongo } from './mongo/mongo-connection.ts';
import { deleteKeys } from './redis/redis-bus.place.ts';

/** Removes a test installation from the engines: its database, topic and keys. */
export async function removeInstallation(
  { kafkaBrokers, mongoUrl, redisUrl }: ClusterConfig,
  kafkaTopic: string,
): Promise<void> {
  const connection = await openMongo(mongoUrl, { log: openLogger('test', 'silent') });
  await connection.dropDatabase();
  await connection.close();
  await removeTopic(kafkaBrokers.join(','), kafkaTopic);
  await deleteKeys(redisUrl, `${kafkaTopic}:`);
}
