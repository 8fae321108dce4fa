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

/**
 * Makes the topic where it is missing, and resolves with its number of partitions, which for an existing topic is what
 * it has and not what was asked. Two that make it at once both succeed.
 */
export async function ensureKafkaTopic(admin: Admin, options: KafkaTopicOptions, log: Logger): Promise<number> {
  const { topic } = options;
  const existing = await admin.listTopics();
  if (!existing.includes(topic)) {
    const isMade = await admin.createTopics({
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
    if (isMade) {
      const { topic, partitions, replication, retentionDays } = options;
      log.info({ topic, partitions, replication, retentionDays }, 'the Kafka topic was made');
    }
  }
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions.length ?? 0;
  if (partitions === 0) throw new Error(`the Kafka topic ${topic} has no partitions`);
  if (partitions !== options.partitions) {
    log.warn(
      { topic, partitions, asked: options.partitions },
      'the Kafka topic has another number of partitions than asked; its own counts',
    );
  }
  return partitions;
}

/**
 * Records leave with their whole segment, so a segment's time is taken off the retention: nothing stays for longer
 * than asked. The broker's clock counts (LogAppendTime): a producer's wrong one would keep segments or end them early.
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
