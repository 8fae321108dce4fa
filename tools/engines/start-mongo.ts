import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, EngineOptions } from './engine.ts';
import { engineState, startEngineProcess } from './engine-process.ts';
import { endOrphans } from './engine-records.ts';
import { startOnFreePorts } from './free-ports.ts';
import { installMongo } from './install-mongo.ts';
import { isPrimary, mongoParameters, mongoUrl, replicaSet } from './mongo-replica-set.ts';
import { reportProgress } from './report-progress.ts';

/** Settings of a server with authentication. */
export type MongoSecurity = {
  args?: readonly string[];
  urlOf?: (address: string) => string;
  /** Sets up the server and returns whether it is usable. */
  answers?: (address: string) => Promise<boolean>;
};

/**
 * Starts MongoDB on 127.0.0.1 as a one-member replica set, which transactions and change streams require. Resolves
 * when it is primary. Installs MongoDB if it is missing. The set stores its member's address, so start a reused
 * `dataDir` on the same `port`.
 */
export const startMongo = async (options: EngineOptions & MongoSecurity = {}): Promise<Engine> => {
  await endOrphans();
  const mongod = await installMongo(options.report ?? reportProgress);
  return startOnFreePorts(1, async ([freePort]) => {
    const port = options.port ?? freePort!;
    const state = engineState('mongo', options);
    const dbPath = join(state.dir, 'db');
    mkdirSync(dbPath, { recursive: true });
    return startEngineProcess(
      {
        name: 'mongo',
        url: (options.urlOf ?? mongoUrl)(`127.0.0.1:${port}`),
        file: mongod,
        args: [...mongodArgs(port, dbPath), ...(options.args ?? [])],
        readyLine: 'Waiting for connections',
        answers: () => (options.answers ?? isPrimary)(`127.0.0.1:${port}`),
      },
      state,
    );
  });
};

const mongodArgs = (port: number, dbPath: string) => [
  ...['--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket', '--dbpath', dbPath],
  ...['--replSet', replicaSet, '--oplogSize', '64', '--wiredTigerCacheSizeGB', '0.25'],
  ...mongoParameters,
  // Disables statistics that would be collected every second.
  ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  // By default MongoDB keeps files open for ten minutes after their last use, even those of dropped collections. The
  // databases of a test run would reach the limit of open files, and MongoDB would exit.
  ...['--setParameter', 'wiredTigerFileHandleCloseIdleTime=30'],
  // By default a stopping primary waits up to 15 s for clients to find another primary, which does not exist here.
  ...['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=100'],
];
