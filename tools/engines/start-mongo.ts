import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import type { Engine, EngineOptions } from './engine.ts';
import { engineState, startEngineProcess } from './engine-process.ts';
import { endOrphans } from './engine-records.ts';
import { startOnFreePorts } from './free-ports.ts';
import { installMongo } from './install-mongo.ts';
import { reportProgress } from './report-progress.ts';

const replicaSet = 'rs0';

/**
 * Starts MongoDB on 127.0.0.1 as a replica set of one member, which transactions and change streams need, and returns when
 * it is primary. Installs it first where it is missing. The set remembers its member's address, so start a `dataDir`
 * that was used before on the same `port`.
 */
export const startMongo = async (options: EngineOptions = {}): Promise<Engine> => {
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
        url: `mongodb://127.0.0.1:${port}/?directConnection=true&replicaSet=${replicaSet}`,
        file: mongod,
        args: mongodArgs(port, dbPath),
        readyLine: 'Waiting for connections',
        answers: () => isPrimary(port),
      },
      state,
    );
  });
};

const mongodArgs = (port: number, dbPath: string) => [
  ...['--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket', '--dbpath', dbPath],
  ...['--replSet', replicaSet, '--oplogSize', '64', '--wiredTigerCacheSizeGB', '0.25'],
  // Statistics that nobody reads here, gathered every second.
  ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
  // By default a primary that is told to stop goes on for up to 15 s so that its clients find another, and there is none.
  ...['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=100'],
];

/** Whether the set of one has its primary; the first time it is asked to form. Throws while it cannot be reached. */
const isPrimary = async (port: number): Promise<boolean> => {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, { serverSelectionTimeoutMS: 2_000 });
  try {
    const admin = client.db('admin');
    const hello = await admin.command({ hello: 1 });
    if (hello.isreplicaset === true) {
      await admin.command({ replSetInitiate: { _id: replicaSet, members: [{ _id: 0, host: `127.0.0.1:${port}` }] } });
    }
    return hello.isWritablePrimary === true;
  } finally {
    await client.close();
  }
};
