import { expect } from '@jest/globals';
import { mongo } from 'mongoose';
import type { Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { Engine } from '../../tools/engines/engine.ts';
import { startConcurrently } from '../../tools/engines/start-concurrently.ts';
import { startMongo } from '../../tools/engines/start-mongo.ts';

/** A MongoDB replica set of three members. */
export interface MongoSet {
  readonly engines: readonly Engine[];
  /** A client of each member, which sends its commands to that member whatever its state is. */
  readonly members: readonly mongo.MongoClient[];
  /** Returns the URL of a database of the set. */
  url(database: string): string;
  /** Resolves with the index of the only primary. */
  findPrimary(): Promise<number>;
}

/** Starts the set with fail points. `own` stops it. */
export async function startMongoSet(own: Closers, settings: Readonly<Record<string, number>>): Promise<MongoSet> {
  const engines = await startConcurrently<Engine[]>(
    [1, 2, 3].map(() =>
      startMongo({
        args: ['--setParameter', 'enableTestCommands=1'],
        answers: () => Promise.resolve(true),
      }),
    ),
  );
  for (const engine of engines) own.add(() => engine.stop());
  const hosts = engines.map((engine) => new URL(engine.url).host);
  const members = await Promise.all(
    hosts.map((host) =>
      mongo.MongoClient.connect(`mongodb://${host}/?directConnection=true`, {
        appName: 'aside',
        serverSelectionTimeoutMS: 2_000,
      }),
    ),
  );
  for (const member of members) own.add(() => member.close());
  await members[0]!.db('admin').command({
    replSetInitiate: { _id: 'rs0', settings, members: hosts.map((host, _id) => ({ _id, host })) },
  });
  const findPrimary = () =>
    eventually(
      async () => {
        const states = await Promise.all(members.map(isPrimary));
        expect(states.filter(Boolean)).toHaveLength(1);
        return states.indexOf(true);
      },
      { timeoutMs: 60_000 },
    );
  await findPrimary();
  return {
    engines,
    members,
    url: (database) => `mongodb://${hosts.join(',')}/${database}?replicaSet=rs0`,
    findPrimary,
  };
}

const isPrimary = (member: mongo.MongoClient): Promise<boolean> =>
  member
    .db('admin')
    .command({ hello: 1 })
    .then(
      ({ isWritablePrimary }) => isWritablePrimary === true,
      () => false, // it is down
    );
