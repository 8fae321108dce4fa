import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const file = join(import.meta.dirname, '../../package.json');

/** The version of the tocsin package. */
export const packageVersion: string = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
