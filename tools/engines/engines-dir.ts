import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The directory of installed engines and of the records of running ones: `TOCSIN_ENGINES_DIR` or
 * `~/.cache/tocsin-engines`.
 */
export const enginesDir = (env: NodeJS.ProcessEnv = process.env): string => {
  const dir = env.TOCSIN_ENGINES_DIR || join(homedir(), '.cache', 'tocsin-engines');
  mkdirSync(dir, { recursive: true });
  return dir;
};
