import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withBuiltConsole } from '@tocsin/shared/runtime/built-console.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import { kept, readStaticFile, revalidated, staticFile, type StaticFile } from '../../http/static-file.ts';

/** The pages of the console's build, and the files that they load from `/assets/`. */
export interface ConsoleFiles {
  /** The page of every console URL, whose scripts read the URL. */
  readonly shell: StaticFile;
  /** The page of `/docs`. */
  readonly docs: StaticFile;
  readonly assets: ReadonlyMap<string, StaticFile>;
  readonly serviceWorker: StaticFile;
}

type FeatureConfig = Pick<Config, 'GOOGLE_CLIENT_ID' | 'GOOGLE_CLIENT_SECRET' | 'SMTP_URL'>;

interface Features {
  readonly config: FeatureConfig;
  /** With which browsers subscribe to pushes; undefined if they are off. */
  readonly vapidPublicKey: string | undefined;
}

/** Files with a hash of their content in their name. */
const hashedName = /-[\w-]{8}\.\w+$/;

/**
 * Returns the files of the console by name. No other file can be requested. The shell names the optional features that
 * are configured, so that the console shows only those.
 */
export function readConsoleFiles(features: Features): ConsoleFiles {
  return withBuiltConsole((directory) => ({
    shell: readShell(join(directory, 'index.html'), features),
    docs: readStaticFile(join(directory, 'docs.html'), revalidated),
    assets: readAssets(join(directory, 'assets')),
    serviceWorker: readStaticFile(join(directory, 'service-worker.js'), revalidated),
  }));
}

function readShell(path: string, { config, vapidPublicKey = '' }: Features): StaticFile {
  const html = readFileSync(path, 'utf8')
    .replace(
      '<meta name="tocsin-features" content=""',
      `<meta name="tocsin-features" content="${featuresOf(config).join(' ')}"`,
    )
    .replace('<meta name="tocsin-vapid-key" content=""', `<meta name="tocsin-vapid-key" content="${vapidPublicKey}"`);
  return staticFile('index.html', html, revalidated);
}

function readAssets(directory: string): Map<string, StaticFile> {
  const names = readdirSync(directory).filter((name) => !name.endsWith('.br'));
  return new Map(names.map((name) => [name, readAsset(join(directory, name), name)]));
}

function readAsset(path: string, name: string): StaticFile {
  const file = readStaticFile(path, hashedName.test(name) ? kept : revalidated);
  return existsSync(`${path}.br`) ? { ...file, brotli: readFileSync(`${path}.br`) } : file;
}

function featuresOf({ GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, SMTP_URL }: FeatureConfig): string[] {
  const hasGoogle = GOOGLE_CLIENT_ID !== undefined && GOOGLE_CLIENT_SECRET !== undefined;
  return [...(hasGoogle ? ['google'] : []), ...(SMTP_URL === undefined ? [] : ['email'])];
}
