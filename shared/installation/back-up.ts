import { adoptLog } from './adopt-log.ts';
import type { Config } from '../platform/load-config.ts';
import { openLogger } from '../platform/logger.ts';
import type { CopyProgress, CopyReport } from '../ports/backup.ts';

/**
 * Writes a consistent snapshot of the installation's store (for a cluster, the MongoDB database), taken after the call,
 * to a file. Servers may run. On failure, leaves no file and throws an error for the operator.
 */
export async function backUp(
  config: Config,
  file: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  if (config.cluster !== undefined) {
    const { backUpMongo } = await import('../drivers/cluster/mongo/transfer/copy-mongo-store.ts');
    return backUpMongo(file, { url: config.cluster.mongoUrl, log: openLogger('backup', 'warn'), onProgress });
  }
  const { backUpEmbedded } = await import('../drivers/embedded/open-embedded.ts');
  return backUpEmbedded(config.DATA_DIR, file, onProgress);
}

/**
 * Restores a backup into the installation's store, which must be empty. No server may run. If the restored store does
 * not know the cluster's Kafka topic, adopts the topic as its log, with offsets above every assigned one. Throws an
 * error for the operator.
 */
export async function restore(
  config: Config,
  file: string,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  if (config.cluster !== undefined) {
    const { restoreMongo } = await import('../drivers/cluster/mongo/transfer/copy-mongo-store.ts');
    const log = openLogger('restore', 'warn');
    const report = await restoreMongo(file, { url: config.cluster.mongoUrl, log, onProgress });
    await adoptLog(config, { log, isRestored: true });
    return report;
  }
  const { restoreEmbedded } = await import('../drivers/embedded/open-embedded.ts');
  return restoreEmbedded(config.DATA_DIR, file, onProgress);
}
