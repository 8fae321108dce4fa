import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine, EngineOptions } from './engine.ts';
import { engineState, startEngineProcess } from './engine-process.ts';
import { endOrphans } from './engine-records.ts';
import { startOnFreePorts } from './free-ports.ts';
import { installMongo } from './install-mongo.ts';
import { isPrimary, mongoParameters, mongoUrl, replicaSet } from './mongo-replica-set.ts';
import { reportProgress } from './report-progress.ts';

/** What is different for one that does not let everybody in. */
export type MongoSecurity = {
  args?: readonly string[];
  urlOf?: (address: string) => string;
  /** Whether it can be used, and what makes it so. */
  answers?: (address: string) => Promise<boolean>;
};

/**
 * Starts MongoDB on 127.0.0.1 as a replica set of one member, which transactions and change streams need, and returns
 * when it is primary. Installs it first where it is missing. The set remembers its member's address, so start a
 * `dataDir` that was used before on the same `port`.
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
  // Statistics that nobody reads here, gathered every second.
  ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  // By default a file stays open for ten minutes after its last use, also of what was dropped: the databases that a suite makes in these
  // are as many files as a process may have open, and MongoDB ends.
  ...['--setParameter', 'wiredTigerFileHandleCloseIdleTime=30'],
  // By default a primary that is told to stop goes on for up to 15 s so that its clients find another, and there is none.
  ...['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=100'],
];
