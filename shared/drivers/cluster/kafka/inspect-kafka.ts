import kafkajs, { type Admin, type ITopicMetadata } from 'kafkajs';
import { findingsOf, type Finding, type Findings } from '../../../platform/finding.ts';
import type { ClusterConfig } from '../../../platform/load-config.ts';
import type { Logger } from '../../../platform/logger.ts';
import { KafkaAdmin } from './kafka-admin.ts';
import { kafkaClientLog } from './kafka-client.ts';
import { dayMs, type KafkaTopicOptions } from './kafka-topic.ts';

const timeoutMs = 8_000;

/** Checks the brokers and the log's topic. */
export async function inspectKafka(stores: ClusterConfig, topic: KafkaTopicOptions, log: Logger): Promise<Finding[]> {
  const findings = findingsOf('Kafka');
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
    return await admin.call((client) => inspectTopic(findings, client, topic), timeoutMs);
  } catch (error) {
    return [
      findings.fault(
        `${brokers.join(', ')} is not usable (${(error as Error).message}): check KAFKA_BROKERS, KAFKA_TLS and KAFKA_SASL_*, and that this machine reaches the advertised addresses of the brokers`,
      ),
    ];
  } finally {
    await admin.close();
  }
}

async function inspectTopic(findings: Findings, admin: Admin, options: KafkaTopicOptions): Promise<Finding[]> {
  const { topic, partitions, replication } = options;
  const { brokers } = await admin.describeCluster();
  const reached = findings.ok(`${brokers.length} broker${brokers.length === 1 ? '' : 's'} reached`);
  if (!(await admin.listTopics()).includes(topic)) {
    const few =
      brokers.length < replication
        ? findings.fault(
            `${brokers.length} of the ${replication} brokers that KAFKA_REPLICATION requires: the topic ${topic} cannot be created`,
          )
        : findings.ok(`the topic ${topic} will be created at the first start`);
    return [reached, few];
  }
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const inTopic = topics[0]!.partitions;
  const other =
    inTopic.length === partitions
      ? []
      : [
          findings.warning(
            `${topic} has ${inTopic.length} partitions instead of the ${partitions} in KAFKA_PARTITIONS: the topic's number applies`,
          ),
        ];
  return [
    reached,
    ...other,
    ...replicaFindings(findings, topic, topics[0]!),
    ...topicSettingFindings(findings, options, await readSettings(admin, topic)),
  ];
}

/** Checks that each partition has a leader and all replicas. */
export function replicaFindings(
  findings: Findings,
  topic: string,
  { partitions }: Pick<ITopicMetadata, 'partitions'>,
): Finding[] {
  const leaderless = partitions.filter(({ leader }) => leader < 0);
  if (leaderless.length > 0)
    return [
      findings.fault(
        `${leaderless.length} of ${partitions.length} partitions of ${topic} have no leader: start the missing brokers`,
      ),
    ];
  const outOfSync = partitions.filter(({ isr, replicas }) => isr.length < replicas.length);
  if (outOfSync.length > 0)
    return [
      findings.warning(`${outOfSync.length} of ${partitions.length} partitions of ${topic} have out-of-sync replicas`),
    ];
  const replicas = Math.min(...partitions.map((partition) => partition.replicas.length));
  return [
    findings.ok(
      `${topic}: ${partitions.length} partitions, each with ${replicas} replica${replicas === 1 ? '' : 's'} in sync`,
    ),
    ...(replicas === 1
      ? [
          findings.warning(
            `${topic} has one replica, so a failed broker disk loses messages. Use three brokers and set KAFKA_REPLICATION=3 before the topic is created`,
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

/** Checks the topic settings that the guarantees depend on. */
export function topicSettingFindings(
  findings: Findings,
  { topic, retentionDays }: Pick<KafkaTopicOptions, 'topic' | 'retentionDays'>,
  settings: ReadonlyMap<string, string>,
): Finding[] {
  const retentionMs = Number(settings.get('retention.ms'));
  const requiredMs = retentionDays * dayMs;
  return [
    ...(settings.get('cleanup.policy') === 'delete'
      ? []
      : [
          findings.fault(
            `${topic} has cleanup.policy=${settings.get('cleanup.policy')}: set delete, otherwise records in the middle of the log disappear`,
          ),
        ]),
    ...(settings.get('message.timestamp.type') === 'LogAppendTime'
      ? []
      : [
          findings.warning(
            `${topic} has message.timestamp.type=${settings.get('message.timestamp.type')}: set LogAppendTime, otherwise a node with a wrong clock changes the retention of records`,
          ),
        ]),
    ...(retentionMs < 0 || retentionMs > requiredMs / 2
      ? []
      : [
          findings.warning(
            `${topic} keeps records for ${(retentionMs / dayMs).toFixed(2)} days, KAFKA_RETENTION_DAYS is ${retentionDays}: services lose records that they do not read in that time`,
          ),
        ]),
  ];
}
