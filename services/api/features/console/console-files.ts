import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readStaticFile, revalidated, type StaticFile } from '../../http/static-file.ts';

const directory = join(import.meta.dirname, '../../console');

/** The page of every console URL; its scripts read the URL. */
export const shellName = 'index.html';

/** The files of the console by name. No other file can be requested. */
export function readConsoleFiles(): Map<string, StaticFile> {
  return new Map(readdirSync(directory).map((name) => [name, readStaticFile(join(directory, name), revalidated)]));
}
