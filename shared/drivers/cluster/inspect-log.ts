import { findingsOf, type Finding } from '../../platform/finding.ts';
import { withClosers } from '../../platform/lifecycle.ts';
import { rejectionReason, type OpenedLog } from './check-log.ts';
import { KafkaAdmin } from './kafka/kafka-admin.ts';
import { kafkaClientLog } from './kafka/kafka-client.ts';
import { kafkaConnection } from './kafka/kafka-connection.ts';
import type { KafkaTopicOptions } from './kafka/kafka-topic.ts';
import { openMongo } from './mongo/mongo-connection.ts';
import { readSeenLog } from './mongo/mongo-log-base.ts';
import type { ClusterStoresOptions } from './open-cluster-stores.ts';

const timeoutMs = 8_000;

/**
 * Checks whether a start would accept the log. Returns no finding if Kafka or MongoDB is unreachable, because their own
 * checks report it.
 */
export function inspectLog({
  stores,
  kafka,
  log,
}: Pick<ClusterStoresOptions, 'stores' | 'kafka' | 'log'>): Promise<Finding[]> {
  const findings = findingsOf('log');
  const inspection = withClosers(async (own) => {
    const connection = await openMongo(stores.mongoUrl, { log });
    own.add(() => connection.close());
    const admin = new KafkaAdmin({ ...kafkaConnection(stores, log), clientLog: kafkaClientLog(log) });
    own.add(() => admin.close());
    const seen = await readSeenLog(connection);
    const why = rejectionReason(seen, await describeLog(admin, kafka), kafka.topic);
    await own.closeAll();
    if (why !== null) return [findings.fault(why)];
    return [
      findings.ok(
        seen.known === null ? 'the store knows no log yet' : `${kafka.topic} is the log that the store knows`,
      ),
    ];
  });
  return inspection.catch(() => []);
}

/** Reads the properties of the log like a start, but creates no topic. */
async function describeLog(admin: KafkaAdmin, { topic, partitions }: KafkaTopicOptions): Promise<OpenedLog> {
  const { clusterId } = await admin.call((client) => client.describeCluster(), timeoutMs);
  const exists = (await admin.call((client) => client.listTopics(), timeoutMs)).includes(topic);
  if (!exists) return { clusterId, partitions, endsAtOpen: new Map() };
  const bounds = await admin.bounds(topic, timeoutMs);
  return {
    clusterId,
    partitions: bounds.size,
    endsAtOpen: new Map([...bounds].map(([partition, { high }]) => [partition, high])),
  };
}
