export type KafkaProtocol = 'PLAINTEXT' | 'SASL_SSL';

export type KafkaNode = {
  /** 1 to the number of nodes. */
  nodeId: number;
  brokerPort: number;
  /** Ports of all nodes, by node ID. */
  controllerPorts: number[];
  dataDir: string;
  /** Security protocol of clients; default PLAINTEXT. Controllers always use PLAINTEXT. */
  protocol?: KafkaProtocol;
  /** Kafka settings that extend or override these. */
  properties?: Record<string, string>;
};

/** Returns `server.properties` of one combined broker and controller node on 127.0.0.1. */
export const kafkaProperties = (node: KafkaNode): string => {
  const { nodeId, brokerPort, controllerPorts, dataDir, protocol = 'PLAINTEXT', properties } = node;
  const replication = controllerPorts.length;
  const inSyncMin = replication >= 3 ? 2 : 1;
  const settings: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': nodeId,
    'controller.quorum.voters': controllerPorts.map((port, i) => `${i + 1}@127.0.0.1:${port}`).join(','),
    'controller.listener.names': 'CONTROLLER',
    listeners: `${protocol}://127.0.0.1:${brokerPort},CONTROLLER://127.0.0.1:${controllerPorts[nodeId - 1]}`,
    'advertised.listeners': `${protocol}://127.0.0.1:${brokerPort}`,
    'listener.security.protocol.map': `${protocol}:${protocol},CONTROLLER:PLAINTEXT`,
    'inter.broker.listener.name': protocol,
    'log.dirs': dataDir,
    'auto.create.topics.enable': false,
    'default.replication.factor': replication,
    'min.insync.replicas': inSyncMin,
    ...internalTopics(replication, inSyncMin),
    ...forTests,
    ...properties,
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
};

/** Returns the environment that makes the image apache/kafka a single node that clients reach at `address`. */
export const kafkaContainerEnvironment = (address: string): Record<string, string> => {
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': '1@localhost:9093',
    'controller.listener.names': 'CONTROLLER',
    listeners: 'PLAINTEXT://:9092,CONTROLLER://:9093',
    'advertised.listeners': `PLAINTEXT://${address}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': '/var/lib/kafka/data',
    'auto.create.topics.enable': false,
    ...internalTopics(1, 1),
    ...forTests,
  };
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [`KAFKA_${key.toUpperCase().replaceAll('.', '_')}`, String(value)]),
  );
};

// Fewer partitions than the default 50, because the first use creates a directory with files for each.
const internalTopics = (replication: number, inSyncMin: number) => ({
  'offsets.topic.replication.factor': replication,
  'offsets.topic.num.partitions': 5,
  'transaction.state.log.replication.factor': replication,
  'transaction.state.log.min.isr': inSyncMin,
  'transaction.state.log.num.partitions': 5,
  'share.coordinator.state.topic.replication.factor': replication,
  'share.coordinator.state.topic.min.isr': inSyncMin,
});

const forTests = {
  // By default the first member of a group waits 3 s for others.
  'group.initial.rebalance.delay.ms': 0,
  // Allocated from the heap at start; default 128 MB.
  'log.cleaner.dedupe.buffer.size': 16_777_216,
  'log.segment.delete.delay.ms': 1_000,
  'broker.heartbeat.interval.ms': 500,
};
