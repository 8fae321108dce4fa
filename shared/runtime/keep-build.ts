import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A running process may still load modules of an older build. */
const keptMs = 24 * 60 * 60 * 1_000;

/**
 * Moves a finished build to `target` and removes builds in the same directory that are older than a day. If another
 * process built the same sources meanwhile, its build stays.
 */
export function keepBuild(directory: string, target: string): void {
  try {
    renameSync(directory, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
  }
  const builds = dirname(target);
  for (const name of readdirSync(builds)) {
    const build = join(builds, name);
    if (build !== target && isOld(build)) rmSync(build, { recursive: true, force: true });
  }
}

const isOld = (build: string): boolean =>
  Date.now() - (statSync(build, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > keptMs;
