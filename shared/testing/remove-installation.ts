import type { Config } from '../platform/load-config.ts';

/**
 * Removes the data of a test's installation from the engines of a cluster; does nothing for the embedded engine. With
 * `keepsCollections`, the collections of its database remain, empty and with their indexes.
 */
export async function removeInstallation(
  { cluster, KAFKA_TOPIC }: Pick<Config, 'cluster' | 'KAFKA_TOPIC'>,
  options: { readonly keepsCollections?: boolean } = {},
): Promise<void> {
  if (cluster === undefined) return;
  const place = await import('../drivers/cluster/installation.place.ts');
  await place.removeInstallation(cluster, KAFKA_TOPIC, options);
}
