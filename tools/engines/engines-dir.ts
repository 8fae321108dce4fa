import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The directory of what is installed and of the records of what runs: `TOCSIN_ENGINES_DIR` or
 * `~/.cache/tocsin-engines`.
 */
export const enginesDir = (env: NodeJS.ProcessEnv = process.env): string => {
  const dir = env.TOCSIN_ENGINES_DIR || join(homedir(), '.cache', 'tocsin-engines');
  mkdirSync(dir, { recursive: true });
  return dir;
};
