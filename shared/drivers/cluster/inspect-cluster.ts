import type { ClusterConfig } from '../../platform/load-config.ts';
import type { Finding } from '../../platform/finding.ts';
import type { Logger } from '../../platform/logger.ts';
import { inspectKafka } from './kafka/inspect-kafka.ts';
import { inspectLog } from './inspect-log.ts';
import { inspectMongo } from './mongo/inspect-mongo.ts';
import { inspectRedis } from './redis/inspect-redis.ts';
import type { KafkaTopicOptions } from './kafka/kafka-topic.ts';

export interface InspectClusterOptions {
  readonly stores: ClusterConfig;
  readonly kafka: KafkaTopicOptions;
  readonly log: Logger;
}

/**
 * Checks Kafka, MongoDB and Redis, and whether the log belongs to the store, concurrently and for some seconds at most.
 * Changes nothing.
 */
export async function inspectCluster({ stores, kafka, log }: InspectClusterOptions): Promise<Finding[]> {
  const findings = await Promise.all([
    inspectKafka(stores, kafka, log),
    inspectMongo(stores.mongoUrl, log),
    inspectRedis(stores.redisUrl, log),
    inspectLog({ stores, kafka, log }),
  ]);
  return findings.flat();
}
