import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';
import { within } from '../../../async/within.ts';
import { openLogger } from '../../../platform/logger.ts';
import type { CuttableLink } from '../../../testing/cuttable-link.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { openMongo } from './mongo-connection.ts';
import { mongoTestDatabase, type MongoTestDatabase } from './mongo-test-database.fixtures.ts';

const rounds = 3;
const concurrent = 10;
/** The connections end and close within this many turns of the event loop. */
const turns = 30;
const finishedWithinMs = 20_000;

describeWithEngines('when MongoDB ends the connections', ({ mongoUrl }) => {
  let database: MongoTestDatabase;
  let link: CuttableLink;
  let connection: Connection;
  beforeAll(async () => {
    database = mongoTestDatabase(mongoUrl, 'ended');
    const opened = await database.openLink();
    link = opened.link;
    connection = await openMongo(opened.url, { log: openLogger('test', 'silent') });
  });
  afterAll(async () => {
    await connection.close(true);
    await link.close();
    await database.drop();
  });

  test('commands of the same moment are repeated, and none hangs', async () => {
    const read = () => connection.db!.collection('things').findOne({});
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all(Array.from({ length: concurrent }, read)); // opens connections
      link.endConnections();
      const reads: Promise<unknown>[] = [];
      for (let n = 0; n < turns; n += 1) {
        await turn();
        reads.push(read());
      }
      const outcomes = await within(finishedWithinMs, 'the reads', Promise.allSettled(reads));
      expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    }
  });
});
