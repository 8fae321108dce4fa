import { kafkaTopic } from '../open-engine.ts';
import type { Config } from '../platform/load-config.ts';
import type { Logger } from '../platform/logger.ts';
import type { AdoptedLog } from '../ports/adopted-log.ts';

/**
 * Connects the store to the configured log. If the store does not know this log, sets its bases above every offset ever
 * assigned. `isRestored` states that the store comes from a backup and may miss earlier bases. The embedded engine
 * needs no adoption: the log is in the file, and after a restore it continues above earlier offsets. No node may run.
 * Throws an error for the operator.
 */
export async function adoptLog(
  config: Config,
  { log, isRestored = false }: { log: Logger; isRestored?: boolean },
): Promise<AdoptedLog> {
  if (config.cluster === undefined) return { reason: null, bases: [] };
  const { adoptClusterLog } = await import('../drivers/cluster/adopt-cluster-log.ts');
  return adoptClusterLog({ stores: config.cluster, kafka: kafkaTopic(config), log, isRestored });
}
