import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Kafka, logLevel } from 'kafkajs';
import { openLogger } from '../../../platform/logger.ts';
import type { EventLogPlace } from '../../../contracts/event-log/event-log.contract.ts';
import { openKafkaEventLog, type KafkaEventLog, type KafkaEventLogOptions } from './kafka-event-log.ts';

/** A unique topic name. */
export const newTopicName = (): string => `tocsin-test-${randomUUID()}`;

/** A new topic on the brokers. */
export function newKafkaPlace(brokers: string): Promise<EventLogPlace> {
  const topic = newTopicName();
  const address = JSON.stringify({ brokers, topic });
  return Promise.resolve({
    open: () => openEventLogAt(address),
    child: { module: fileURLToPath(import.meta.url), address },
    hasManyClients: true,
    remove: () => removeTopic(brokers, topic),
  });
}

/** Opens the log at the address, which contains brokers and topic. */
export function openEventLogAt(address: string): Promise<KafkaEventLog> {
  const { brokers, topic } = JSON.parse(address) as { brokers: string; topic: string };
  return openKafkaEventLog(testOptions(brokers, topic));
}

export function testOptions(brokers: string, topic: string): KafkaEventLogOptions {
  return {
    brokers: brokers.split(','),
    topic,
    partitions: 3,
    replication: 1,
    retentionDays: 7,
    clientId: 'tocsin-test',
    log: openLogger('test', process.env.TEST_LOG_LEVEL ?? 'silent'),
  };
}

export async function removeTopic(brokers: string, topic: string): Promise<void> {
  const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [topic] }).catch(() => undefined); // a test may not have created it
  await admin.disconnect();
}
