import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import type { Logger } from '../../../platform/logger.ts';

export interface KafkaTopicOptions {
  readonly topic: string;
  readonly partitions: number;
  readonly replication: number;
  readonly retentionDays: number;
}

export const dayMs = 24 * 60 * 60 * 1_000;
const segmentMsMax = dayMs / 2;
const createTimeoutMs = 5_000;
const leadersTimeoutMs = 2_000;
const leadersPauseMs = 50;

/**
 * Creates the topic if missing, and resolves with its number of partitions, which may differ from the requested one for
 * an existing topic. Safe to run concurrently.
 */
export async function ensureKafkaTopic(admin: Admin, options: KafkaTopicOptions, log: Logger): Promise<number> {
  const { topic } = options;
  const existing = await admin.listTopics();
  if (!existing.includes(topic)) {
    const isCreated = await admin.createTopics({
      topics: [
        {
          topic,
          numPartitions: options.partitions,
          replicationFactor: options.replication,
          configEntries: configEntries(options),
        },
      ],
      waitForLeaders: true,
      timeout: createTimeoutMs,
    });
    if (isCreated) {
      const { topic, partitions, replication, retentionDays } = options;
      log.info({ topic, partitions, replication, retentionDays }, 'created the Kafka topic');
    }
  }
  const partitions = await countPartitions(admin, topic);
  if (partitions === 0) throw new Error(`the Kafka topic ${topic} has no partitions`);
  if (partitions !== options.partitions) {
    log.warn(
      { topic, partitions, asked: options.partitions },
      'the Kafka topic has a different number of partitions than KAFKA_PARTITIONS, using its own',
    );
  }
  return partitions;
}

/** Waits until a new topic's partitions have leaders, but not for those of brokers that are down. */
async function countPartitions(admin: Admin, topic: string): Promise<number> {
  for (const deadline = performance.now() + leadersTimeoutMs; ;) {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics[0]?.partitions ?? [];
    if (partitions.every(({ leader }) => leader >= 0) || performance.now() > deadline) return partitions.length;
    await sleep(leadersPauseMs);
  }
}

/**
 * Kafka removes whole segments, so a segment's time is subtracted from the retention: no record is kept longer
 * than configured. Uses the broker's clock (LogAppendTime), because a wrong producer clock would change the retention.
 */
function configEntries({ retentionDays, replication }: KafkaTopicOptions): { name: string; value: string }[] {
  const segmentMs = Math.floor(Math.min(segmentMsMax, (retentionDays * dayMs) / 8));
  return [
    { name: 'cleanup.policy', value: 'delete' },
    { name: 'message.timestamp.type', value: 'LogAppendTime' },
    { name: 'retention.ms', value: String(retentionDays * dayMs - segmentMs) },
    { name: 'segment.ms', value: String(segmentMs) },
    { name: 'min.insync.replicas', value: replication >= 3 ? '2' : '1' },
  ];
}
