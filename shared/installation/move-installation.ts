import { exportInstallation } from './transfer/export-installation.ts';
import { importInstallation } from './transfer/import-installation.ts';
import type { Manifest, MovedSecrets } from './transfer/manifest.ts';
import { clusterOptions, engineCollections } from '../open-engine.ts';
import type { Config } from '../platform/load-config.ts';
import type { Logger } from '../platform/logger.ts';
import { vapidPublicKeyOf } from '../platform/vapid-keys.ts';
import type { InstallationRows } from '../ports/installation-rows.ts';

export interface MoveOptions {
  readonly dir: string;
  readonly log: Logger;
  readonly report: (line: string) => void;
}

/** Exports the configured installation. Throws an error for the operator; see `exportInstallation`. */
export async function exportFrom(config: Config, { dir, log, report }: MoveOptions): Promise<Manifest> {
  return withRows(await openRows(config, log, 'export'), async (rows) =>
    exportInstallation(rows, { dir, report, secrets: await ownSecrets(config) }),
  );
}

/** Imports into the configured installation. Throws an error for the operator; see `importInstallation`. */
export async function importInto(config: Config, { dir, log, report }: MoveOptions): Promise<Manifest> {
  return withRows(await openRows(config, log, 'import'), (rows) =>
    importInstallation(rows, { dir, report, adoptSecrets: (exported) => adoptSecrets(config, exported, report) }),
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

/** The secrets that a copy of the installation needs; undefined before the first start. */
async function ownSecrets(config: Config): Promise<MovedSecrets | undefined> {
  const { generatedSecrets } = await import('../drivers/embedded/data-dir/generated-secrets.ts');
  const generated = (secret: typeof generatedSecrets.jwt) =>
    config.cluster === undefined ? secret.read(config.DATA_DIR) : undefined;
  const jwtSecret = generated(generatedSecrets.jwt);
  const jwtSecrets = config.jwtSecrets ?? (jwtSecret === undefined ? undefined : [jwtSecret]);
  const vapidPrivateKey = config.webPush.keys?.privateKey ?? generated(generatedSecrets.vapid);
  return jwtSecrets === undefined
    ? undefined
    : { jwtSecrets: [...jwtSecrets], ...(vapidPrivateKey === undefined ? {} : { vapidPrivateKey }) };
}

async function adoptSecrets(config: Config, exported: MovedSecrets, report: MoveOptions['report']): Promise<void> {
  await adoptJwtSecrets(config, exported.jwtSecrets);
  if (exported.vapidPrivateKey !== undefined) await adoptVapidKey(config, exported.vapidPrivateKey, report);
}

/** Without the secret that signed the logins, all refresh tokens would be rejected. */
async function adoptJwtSecrets(config: Config, exported: readonly string[]): Promise<void> {
  if (config.jwtSecrets !== undefined) {
    if (config.jwtSecrets.includes(exported[0]!)) return;
    throw new Error(
      'JWT_SECRET must include the secret that signed the exported logins: set it to the one in secrets.json of the export, or append it after a comma',
    );
  }
  const { generatedSecrets } = await import('../drivers/embedded/data-dir/generated-secrets.ts');
  generatedSecrets.jwt.store(config.DATA_DIR, exported[0]!);
}

/** Push services accept pushes to a browser only with the key with which it subscribed. */
async function adoptVapidKey(config: Config, exported: string, report: MoveOptions['report']): Promise<void> {
  const { keys } = config.webPush;
  if (keys?.privateKey === exported) return;
  const settings = `VAPID_PUBLIC_KEY=${vapidPublicKeyOf(exported)} and VAPID_PRIVATE_KEY of secrets.json`;
  if (keys?.privateKey !== undefined)
    throw new Error(`VAPID_PRIVATE_KEY must be the key with which the exported browsers subscribed: set ${settings}`);
  if (config.cluster !== undefined)
    return report(`Note: the exported browsers receive pushes only with their key: set ${settings}.`);
  const { generatedSecrets } = await import('../drivers/embedded/data-dir/generated-secrets.ts');
  generatedSecrets.vapid.store(config.DATA_DIR, exported);
}
