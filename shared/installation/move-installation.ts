import { exportInstallation } from './transfer/export-installation.ts';
import { importInstallation } from './transfer/import-installation.ts';
import type { Manifest } from './transfer/manifest.ts';
import { clusterOptions, engineCollections } from '../open-engine.ts';
import type { Config } from '../platform/load-config.ts';
import type { Logger } from '../platform/logger.ts';
import type { InstallationRows } from '../ports/installation-rows.ts';

export interface MoveOptions {
  readonly dir: string;
  readonly log: Logger;
  readonly report: (line: string) => void;
}

/** Exports the configured installation. Throws an error for the operator; see `exportInstallation`. */
export async function exportFrom(config: Config, { dir, log, report }: MoveOptions): Promise<Manifest> {
  return withRows(await openRows(config, log, 'export'), async (rows) =>
    exportInstallation(rows, { dir, report, jwtSecrets: await ownSecrets(config) }),
  );
}

/** Imports into the configured installation. Throws an error for the operator; see `importInstallation`. */
export async function importInto(config: Config, { dir, log, report }: MoveOptions): Promise<Manifest> {
  return withRows(await openRows(config, log, 'import'), (rows) =>
    importInstallation(rows, { dir, report, adoptSecrets: (exported) => adoptSecrets(config, exported) }),
  );
}

async function withRows<T>(rows: InstallationRows, use: (rows: InstallationRows) => Promise<T>): Promise<T> {
  try {
    return await use(rows);
  } finally {
    await rows.close();
  }
}

async function openRows(config: Config, log: Logger, purpose: 'export' | 'import'): Promise<InstallationRows> {
  if (config.cluster === undefined) {
    const { openEmbeddedRows } = await import('../drivers/embedded/open-embedded.ts');
    return openEmbeddedRows({ dataDir: config.DATA_DIR, collections: engineCollections.collections, purpose });
  }
  const { openClusterRows } = await import('../drivers/cluster/open-cluster-rows.ts');
  return openClusterRows({ ...clusterOptions(config, config.cluster), log });
}

async function ownSecrets(config: Config): Promise<readonly string[] | undefined> {
  if (config.jwtSecrets !== undefined) return config.jwtSecrets;
  const { generatedSecret } = await import('../drivers/embedded/data-dir/generated-secret.ts');
  const secret = generatedSecret.read(config.DATA_DIR);
  return secret === undefined ? undefined : [secret];
}

/** Without the secret that signed the logins, all refresh tokens would be rejected. */
async function adoptSecrets(config: Config, exported: readonly string[]): Promise<void> {
  if (config.jwtSecrets !== undefined) {
    if (config.jwtSecrets.includes(exported[0]!)) return;
    throw new Error(
      'JWT_SECRET must include the secret that signed the exported logins: set it to the one in secrets.json of the export, or append it after a comma',
    );
  }
  const { generatedSecret } = await import('../drivers/embedded/data-dir/generated-secret.ts');
  generatedSecret.store(config.DATA_DIR, exported[0]!);
}
