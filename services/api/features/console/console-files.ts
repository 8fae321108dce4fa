import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readStaticFile, revalidated, type StaticFile } from '../../http/static-file.ts';

const directory = join(import.meta.dirname, '../../console');

/** The page that every address of the console shows; its scripts look at the address. */
export const shellName = 'index.html';

/** The files of the console by their names, which are all that can be asked for. */
export function readConsoleFiles(): Map<string, StaticFile> {
  return new Map(readdirSync(directory).map((name) => [name, readStaticFile(join(directory, name), revalidated)]));
}
