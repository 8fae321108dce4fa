import { mkdirSync } from 'node:fs';
import type { Engine } from './ports/engine.ts';
import type { Clock } from './platform/clock.ts';
import { systemClock } from './platform/clock.ts';
import type { ClusterConfig, Config } from './platform/load-config.ts';
import type { Logger } from './platform/logger.ts';
import type { Bus } from './ports/bus/bus.ts';
import type { Documents } from './ports/documents.ts';
import type { JobQueue } from './ports/job-queue.ts';
import type { Messages } from './ports/messages/messages.ts';
import { collections } from './collections/collections.ts';
import { devices } from './collections/devices-collection.ts';
import { subscriptions } from './collections/subscriptions-collection.ts';

const recipients = { subscriptions, devices };

/**
 * Opens the configured engine: a cluster if its three URLs are set, otherwise one SQLite file. Loads only the packages
 * of that engine. Throws an error for the operator if a component cannot be opened.
 */
export async function openEngine(config: Config, deps: { clock: Clock; log: Logger }): Promise<Engine> {
  if (config.cluster === undefined) {
    const { openEmbedded } = await import('./drivers/embedded/open-embedded.ts');
    return openEmbedded({ dataDir: config.DATA_DIR, collections, recipients, ...secretsOf(config), ...deps });
  }
  const { openCluster } = await import('./drivers/cluster/open-cluster.ts');
  const { jwtSecrets = [], vapidKeys } = secretsOf(config);
  return openCluster({ ...clusterOptions(config, config.cluster), jwtSecrets, vapidKeys, ...deps });
}

const secretsOf = ({ jwtSecrets, webPush: { keys: vapidKeys } }: Config) => ({ jwtSecrets, vapidKeys });

/** The common options of engines. */
export const engineCollections = { collections, recipients } as const;

/** The options of a cluster. */
export function clusterOptions(config: Config, stores: ClusterConfig) {
  return { stores, kafka: kafkaTopic(config), ...engineCollections };
}

/** The dependencies of an operator command, which may run alongside an installation. */
export interface OperatorStore {
  readonly documents: Documents;
  /**
   * Opens the bus, which notifies running nodes of changes; closed with the documents. Null if the nodes notice changes
   * themselves, within 5 s.
   */
  readonly openBus: (() => Promise<Bus>) | null;
  /** Opens the job queue; closed with the documents. */
  readonly openJobQueue: () => Promise<JobQueue>;
  /** Opens the messages; closed with the documents. */
  readonly openMessages: () => Promise<Messages>;
  close(): Promise<void>;
}

/** Opens only the documents, even while servers run on the same store. */
export async function openDocuments(config: Config, log: Logger): Promise<OperatorStore> {
  if (config.cluster === undefined) {
    mkdirSync(config.DATA_DIR, { recursive: true, mode: 0o700 });
    const { openEmbeddedDocuments } = await import('./drivers/embedded/open-embedded.ts');
    return {
      ...(await openEmbeddedDocuments({ dataDir: config.DATA_DIR, collections, clock: systemClock, log })),
      openBus: null,
    };
  }
  const { openClusterDocuments } = await import('./drivers/cluster/open-cluster-documents.ts');
  return openClusterDocuments({
    stores: config.cluster,
    kafka: kafkaTopic(config),
    collections,
    clock: systemClock,
    log,
  });
}

/** The requested settings of the log's topic. */
export function kafkaTopic(config: Config) {
  return {
    topic: config.KAFKA_TOPIC,
    partitions: config.KAFKA_PARTITIONS,
    replication: config.KAFKA_REPLICATION,
    retentionDays: config.KAFKA_RETENTION_DAYS,
  };
}
