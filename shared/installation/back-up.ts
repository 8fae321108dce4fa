import { adoptLog } from './adopt-log.ts';
import type { Config } from '../platform/load-config.ts';
import { openLogger } from '../platform/logger.ts';
import type { CopyProgress, CopyReport } from '../ports/backup.ts';

/**
 * Writes the installation's store to a file, also beside running servers: all of it as it was at one moment after the call. Of a
 * cluster that is MongoDB's database. Throws a sentence for the operator, and leaves no file then.
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
 * Makes the installation's store, which must be empty and no server's, what the file holds. Where a cluster's Kafka topic is not
 * the one that this store knows, it becomes its log, with positions above every one that was handed out. Throws a sentence for the operator.
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
