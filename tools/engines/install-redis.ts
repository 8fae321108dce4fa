import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { enginesDir } from './engines-dir.ts';
import { findProgram } from './find-program.ts';
import { runProgram } from './run-program.ts';
import { withInstallLock } from './with-install-lock.ts';

/** Packages that Debian's redis-server needs in addition to a minimal system. */
const packages = [
  'redis-server',
  'redis-tools',
  'libjemalloc2',
  'liblzf1',
  'liblua5.1-0',
  'lua-bitop',
  'lua-cjson',
  'libatomic1',
];

export type RedisInstallation = { file: string; env: NodeJS.ProcessEnv };

const redisDir = () => join(enginesDir(), 'redis');

export const isRedisUnpacked = (): boolean => existsSync(redisDir());

/**
 * Returns `redis-server` from PATH, or unpacks the system's package into the engines directory. Needs no root rights
 * and starts no service. Safe to call from several processes concurrently; returns immediately if installed.
 */
export const installRedis = async (report: (line: string) => void): Promise<RedisInstallation> => {
  const onPath = findProgram('redis-server');
  if (onPath) return { file: onPath, env: {} };
  const dir = redisDir();
  if (!existsSync(dir)) {
    await withInstallLock(enginesDir(), 'redis', async () => {
      if (existsSync(dir)) return;
      report('installing Redis (about 2 s) …');
      await unpack(dir);
    });
  }
  return unpacked(dir);
};

/** `redis-server` links to a program in redis-tools, so both are unpacked into one tree. */
const unpacked = (dir: string): RedisInstallation => {
  const libraries = readdirSync(join(dir, 'usr', 'lib'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.includes('.so'))
    .map((entry) => entry.parentPath);
  const searched = [...new Set(libraries), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  return { file: join(dir, 'usr', 'bin', 'redis-server'), env: { LD_LIBRARY_PATH: searched } };
};

const unpack = async (dir: string) => {
  const unfinished = `${dir}.unfinished`;
  const debs = join(unfinished, 'debs');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(debs, { recursive: true });
  const download = () => runProgram('apt-get', ['download', '-qq', ...packages], { cwd: debs });
  // A new system may have no package lists.
  await download().catch(async () => {
    await runProgram('apt-get', ['update', '-qq']);
    await download();
  });
  for (const deb of readdirSync(debs)) await runProgram('dpkg', ['-x', join(debs, deb), unfinished]);
  rmSync(debs, { recursive: true });
  const { file, env } = unpacked(unfinished);
  await runProgram(file, ['--version'], { env });
  renameSync(unfinished, dir);
};
