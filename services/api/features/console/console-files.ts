import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import { readStaticFile, revalidated, staticFile, type StaticFile } from '../../http/static-file.ts';

const directory = join(import.meta.dirname, '../../console');

/** The page of every console URL; its scripts read the URL. */
export const shellName = 'index.html';

type FeatureConfig = Pick<Config, 'GOOGLE_CLIENT_ID' | 'GOOGLE_CLIENT_SECRET' | 'SMTP_URL'>;

/**
 * Returns the files of the console by name. No other file can be requested. `index.html` names the optional features
 * that are configured, so that the console shows only those.
 */
export function readConsoleFiles(config: FeatureConfig): Map<string, StaticFile> {
  const files = new Map(
    readdirSync(directory).map((name) => [name, readStaticFile(join(directory, name), revalidated)]),
  );
  const shell = readFileSync(join(directory, shellName), 'utf8').replace(
    '<meta name="tocsin-features" content=""',
    `<meta name="tocsin-features" content="${featuresOf(config).join(' ')}"`,
  );
  return files.set(shellName, staticFile(shellName, shell, revalidated));
}

function featuresOf({ GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, SMTP_URL }: FeatureConfig): string[] {
  const hasGoogle = GOOGLE_CLIENT_ID !== undefined && GOOGLE_CLIENT_SECRET !== undefined;
  return [...(hasGoogle ? ['google'] : []), ...(SMTP_URL === undefined ? [] : ['email'])];
}
