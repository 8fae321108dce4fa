import kafkajs, { type Admin, type ITopicMetadata } from 'kafkajs';
import { findingsOf, type Finding, type Findings } from '../../../platform/finding.ts';
import type { ClusterConfig } from '../../../platform/load-config.ts';
import type { Logger } from '../../../platform/logger.ts';
import { KafkaAdmin } from './kafka-admin.ts';
import { kafkaClientLog } from './kafka-client.ts';
import { dayMs, type KafkaTopicOptions } from './kafka-topic.ts';

const timeoutMs = 8_000;

/** Asks the brokers for themselves and for the log's topic. */
export async function inspectKafka(stores: ClusterConfig, topic: KafkaTopicOptions, log: Logger): Promise<Finding[]> {
  const found = findingsOf('Kafka');
  const brokers = stores.kafkaBrokers;
  const admin = new KafkaAdmin({
    brokers,
    clientId: 'tocsin-doctor',
    tls: stores.kafkaTls,
    sasl: stores.kafkaSasl,
    log,
    clientLog: kafkaClientLog(log),
  });
  try {
    return await admin.call((client) => inspectTopic(found, client, topic), timeoutMs);
  } catch (error) {
    return [
      found.fault(
        `${brokers.join(', ')} cannot be used (${(error as Error).message}): check KAFKA_BROKERS, KAFKA_TLS and KAFKA_SASL_*, and that this machine reaches what the brokers advertise`,
      ),
    ];
  } finally {
    await admin.close();
  }
}

async function inspectTopic(found: Findings, admin: Admin, options: KafkaTopicOptions): Promise<Finding[]> {
  const { topic, partitions, replication } = options;
  const { brokers } = await admin.describeCluster();
  const reached = found.ok(`${brokers.length} broker${brokers.length === 1 ? '' : 's'} reached`);
  if (!(await admin.listTopics()).includes(topic)) {
    const few =
      brokers.length < replication
        ? found.fault(
            `${brokers.length} of the ${replication} brokers that KAFKA_REPLICATION asks for: the topic ${topic} cannot be made`,
          )
        : found.ok(`the topic ${topic} will be made at the first start`);
    return [reached, few];
  }
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const inTopic = topics[0]!.partitions;
  const other =
    inTopic.length === partitions
      ? []
      : [
          found.warning(
            `${topic} has ${inTopic.length} partitions, not the ${partitions} of KAFKA_PARTITIONS: its own count`,
          ),
        ];
  return [
    reached,
    ...other,
    ...replicaFindings(found, topic, topics[0]!),
    ...topicSettingFindings(found, options, await readSettings(admin, topic)),
  ];
}

/** Whether each partition has a leader and as many replicas as it should. */
export function replicaFindings(
  found: Findings,
  topic: string,
  { partitions }: Pick<ITopicMetadata, 'partitions'>,
): Finding[] {
  const leaderless = partitions.filter(({ leader }) => leader < 0);
  if (leaderless.length > 0)
    return [
      found.fault(
        `${leaderless.length} of ${partitions.length} partitions of ${topic} have no leader: bring the missing brokers back`,
      ),
    ];
  const behind = partitions.filter(({ isr, replicas }) => isr.length < replicas.length);
  if (behind.length > 0)
    return [
      found.warning(
        `${behind.length} of ${partitions.length} partitions of ${topic} have replicas that are behind or away`,
      ),
    ];
  const replicas = Math.min(...partitions.map((partition) => partition.replicas.length));
  return [
    found.ok(
      `${topic}: ${partitions.length} partitions, each with ${replicas} replica${replicas === 1 ? '' : 's'} in sync`,
    ),
    ...(replicas === 1
      ? [
          found.warning(
            `${topic} has one replica: what a broker's disk loses is lost. Three brokers and KAFKA_REPLICATION=3 before the topic is made keep it`,
          ),
        ]
      : []),
  ];
}

async function readSettings(admin: Admin, topic: string): Promise<Map<string, string>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [
      {
        type: kafkajs.ConfigResourceTypes.TOPIC,
        name: topic,
        configNames: ['cleanup.policy', 'retention.ms', 'message.timestamp.type'],
      },
    ],
  });
  return new Map(resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]));
}

/** What ends an installation's promises when somebody changes it on the topic. */
export function topicSettingFindings(
  found: Findings,
  { topic, retentionDays }: Pick<KafkaTopicOptions, 'topic' | 'retentionDays'>,
  settings: ReadonlyMap<string, string>,
): Finding[] {
  const retentionMs = Number(settings.get('retention.ms'));
  const asked = retentionDays * dayMs;
  return [
    ...(settings.get('cleanup.policy') === 'delete'
      ? []
      : [
          found.fault(
            `${topic} has cleanup.policy=${settings.get('cleanup.policy')}: with anything but delete records vanish from the middle of the log`,
          ),
        ]),
    ...(settings.get('message.timestamp.type') === 'LogAppendTime'
      ? []
      : [
          found.warning(
            `${topic} has message.timestamp.type=${settings.get('message.timestamp.type')}: set LogAppendTime, or a wrong clock of one node keeps or ends records`,
          ),
        ]),
    ...(retentionMs < 0 || retentionMs > asked / 2
      ? []
      : [
          found.warning(
            `${topic} keeps records for ${(retentionMs / dayMs).toFixed(2)} days, KAFKA_RETENTION_DAYS is ${retentionDays}: what a part of the system did not read in that time is lost to it`,
          ),
        ]),
  ];
}
