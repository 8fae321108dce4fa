import type { Finding } from '../platform/finding.ts';
import type { Config } from '../platform/load-config.ts';
import type { Logger } from '../platform/logger.ts';
import { kafkaTopic } from '../open-engine.ts';

/**
 * Checks the configured engine; servers may run. Neither opens nor changes it, but creates a missing directory of the
 * embedded engine.
 */
export async function inspectEngine(config: Config, log: Logger): Promise<Finding[]> {
  if (config.cluster === undefined) {
    const { inspectEmbedded } = await import('../drivers/embedded/open-embedded.ts');
    return inspectEmbedded(config.DATA_DIR);
  }
  const { inspectCluster } = await import('../drivers/cluster/inspect-cluster.ts');
  return inspectCluster({ stores: config.cluster, kafka: kafkaTopic(config), log });
}
