import type { Config } from '../platform/load-config.ts';

/** Removes what an installation of a test has left on the engines of a cluster; embedded there is nothing to remove there. */
export async function removeInstallation({
  cluster,
  KAFKA_TOPIC,
}: Pick<Config, 'cluster' | 'KAFKA_TOPIC'>): Promise<void> {
  if (cluster === undefined) return;
  const place = await import('../drivers/cluster/installation.place.ts');
  await place.removeInstallation(cluster, KAFKA_TOPIC);
}
