import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, EngineOptions } from './engine.ts';
import { engineState, startEngineProcess } from './engine-process.ts';
import { endOrphans } from './engine-records.ts';
import { startOnFreePorts } from './free-ports.ts';
import { formattedStorage, installKafka, templateClusterId, type KafkaInstallation } from './install-kafka.ts';
import { kafkaProperties, type KafkaNode, type KafkaProtocol } from './kafka-properties.ts';
import { portAccepts } from './port-accepts.ts';
import { reportProgress } from './report-progress.ts';
import { startConcurrently } from './start-concurrently.ts';

export type KafkaOptions = EngineOptions & {
  /**
   * Default 1. With 3, topics have three replicas, of which two must be in sync. `port` is the first node's; the
   * others follow.
   */
  nodes?: number;
  /** Security protocol of clients; default PLAINTEXT. SASL_SSL needs `properties` with a certificate and users. */
  protocol?: KafkaProtocol;
  /** Kafka settings that extend or override those in kafka-properties.ts. */
  properties?: Record<string, string>;
  /** Heap of each node, 512 MB by default. */
  heapMb?: number;
};

/** The cluster as one engine, and its nodes. Operations on the cluster apply to every node. */
export type KafkaEngine = Engine & { readonly nodes: Engine[] };

/**
 * Starts Kafka (KRaft, combined broker and controller nodes) on 127.0.0.1 and resolves when all nodes serve. A new
 * cluster gets a new cluster ID; a `dataDir` with a cluster keeps its ID. Installs Kafka if it is missing.
 */
export const startKafka = async (options: KafkaOptions = {}): Promise<KafkaEngine> => {
  await endOrphans();
  const installation = await installKafka(options.report ?? reportProgress);
  const count = options.nodes ?? 1;
  return startOnFreePorts(2 * count, async (ports) => {
    const brokerPorts = ports.slice(0, count).map((port, i) => (options.port === undefined ? port : options.port + i));
    return startNodes(installation, options, { brokerPorts, controllerPorts: ports.slice(count) });
  });
};

type Ports = { brokerPorts: number[]; controllerPorts: number[] };

const startNodes = async (
  installation: KafkaInstallation,
  options: KafkaOptions,
  ports: Ports,
): Promise<KafkaEngine> => {
  const clusterId = randomClusterId();
  // No node serves without a majority, so all nodes start concurrently.
  const nodes = await startConcurrently<Engine[]>(
    ports.brokerPorts.map((_, i) => startNode(installation, { options, nodeId: i + 1, ports, clusterId })),
  );
  return wholeCluster(nodes, ports.brokerPorts);
};

type NodePlan = { options: KafkaOptions; nodeId: number; ports: Ports; clusterId: string };

const startNode = async (installation: KafkaInstallation, { options, nodeId, ports, clusterId }: NodePlan) => {
  const name = `kafka-${nodeId}`;
  const dataDir = options.dataDir === undefined ? undefined : join(options.dataDir, `node-${nodeId}`);
  const state = engineState(name, { ...options, ...(dataDir !== undefined && { dataDir }) });
  const brokerPort = ports.brokerPorts[nodeId - 1]!;
  const storageDir = join(state.dir, 'storage');
  if (!existsSync(storageDir)) copyStorage(await formattedStorage(installation, nodeId), storageDir, clusterId);
  const node: KafkaNode = {
    nodeId,
    brokerPort,
    controllerPorts: ports.controllerPorts,
    dataDir: storageDir,
    ...(options.protocol && { protocol: options.protocol }),
    ...(options.properties && { properties: options.properties }),
  };
  const propertiesFile = join(state.dir, 'server.properties');
  writeFileSync(propertiesFile, kafkaProperties(node));
  const heap = `${options.heapMb ?? 512}m`;
  // Java's C2 compiler costs 1.3 s of CPU time per start and 10 s in the first minutes, which does not pay off in a
  // test.
  const compiling = (options.isForLong ?? options.outlives ?? false) ? [] : ['-XX:TieredStopAtLevel=1'];
  return startEngineProcess(
    {
      name,
      url: `127.0.0.1:${brokerPort}`,
      file: 'java',
      args: [`-Xmx${heap}`, `-Xms${heap}`, ...compiling, ...installation.javaArgs, 'kafka.Kafka', propertiesFile],
      readyLine: 'Kafka Server started',
      answers: () => portAccepts(brokerPort),
    },
    state,
  );
};

const copyStorage = (formatted: string, storageDir: string, clusterId: string) => {
  cpSync(formatted, storageDir, { recursive: true });
  const file = join(storageDir, 'meta.properties');
  writeFileSync(file, readFileSync(file, 'utf8').replace(templateClusterId, clusterId));
};

/** Generates an ID as Kafka does: 16 bytes without a leading dash, which Kafka's tools would parse as an option. */
const randomClusterId = () => randomBytes(16).toString('base64url').replace(/^-/, 'A');

const wholeCluster = (nodes: Engine[], brokerPorts: number[]): KafkaEngine => {
  const first = nodes[0]!;
  const onAll = async (act: (node: Engine) => Promise<void>) => {
    await Promise.all(nodes.map(act));
  };
  return {
    nodes,
    url: brokerPorts.map((port) => `127.0.0.1:${port}`).join(','),
    get pid() {
      return first.pid;
    },
    get logFile() {
      return first.logFile;
    },
    stop: () => onAll((node) => node.stop()),
    kill: () => onAll((node) => node.kill()),
    restart: () => onAll((node) => node.restart()),
    pause: () => nodes.forEach((node) => node.pause()),
    resume: () => nodes.forEach((node) => node.resume()),
  };
};
