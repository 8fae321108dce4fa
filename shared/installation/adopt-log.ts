import { kafkaTopic } from '../open-engine.ts';
import type { Config } from '../platform/load-config.ts';
import type { Logger } from '../platform/logger.ts';
import type { AdoptedLog } from '../ports/adopted-log.ts';

/**
 * Makes the log that the configuration leads to the one that the store is a view of: where it is not the one that the store
 * knows, the base is raised above every position that was ever handed out. `isRestored` says that the store comes from a
 * backup and may have forgotten earlier bases. Embedded there is nothing to adopt: the log is in the file, and one that was
 * restored goes on by itself above what it was. No node may run. Throws a sentence for the operator.
 */
export async function adoptLog(
  config: Config,
  { log, isRestored = false }: { log: Logger; isRestored?: boolean },
): Promise<AdoptedLog> {
  if (config.cluster === undefined) return { reason: null, bases: [] };
  const { adoptClusterLog } = await import('../drivers/cluster/adopt-cluster-log.ts');
  return adoptClusterLog({ stores: config.cluster, kafka: kafkaTopic(config), log, isRestored });
}
