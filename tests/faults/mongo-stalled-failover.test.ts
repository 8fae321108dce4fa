import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection, mongo } from 'mongoose';
import { openMongo } from '@tocsin/shared/drivers/cluster/mongo/mongo-connection.ts';
import { openMongoMessages } from '@tocsin/shared/drivers/cluster/mongo/messages/mongo-messages.ts';
import { newId, published, testMessage } from '@tocsin/shared/contracts/messages/messages.fixtures.ts';
import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Messages } from '@tocsin/shared/ports/messages/messages.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { printMeasurements } from '@tocsin/shared/testing/figures.ts';
import { describeWithOwnEngines } from '../../tools/engines/describe-with-own-engines.ts';
import { startMongoSet, type MongoSet } from './start-mongo-set.ts';

const log = openLogger('test', 'silent');
const dayMs = 86_400_000;
const partitions = 24;
const runs = Number(process.env['TOCSIN_FAILOVERS'] ?? 3);
const seed = Number(process.env['TOCSIN_FAILOVER_SEED'] ?? 1);
/**
 * The stall of the replication before the failover. The first run has the longest, in which waiting writes give up. In
 * it, and in about half of the others, the API dies.
 */
const stallMsMax = Number(process.env['TOCSIN_FAILOVER_STALL_MS'] ?? 12_000);
const stallMsMin = 500;

/**
 * Linear congruential, so that a seed repeats a run. Mixes the seed, because adjacent ones would give similar numbers.
 */
function randomSource(from: number): () => number {
  let state = Math.imul(from ^ (from >>> 16), 0x9e3779b1) >>> 0;
  state = Math.imul(state ^ (state >>> 15), 0x85ebca6b) >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

/** Handles the records like a fan-out: again and again until they are handled. */
async function fanOut(messages: Messages, record: PlacedRecord): Promise<void> {
  for (;;) {
    try {
      await messages.reconcile(record.partition, [record]);
      await messages.moveWatermark(record.partition, record.offset);
      return;
    } catch {
      await pause(100); // the pause of a log reader
    }
  }
}

// Writes that only the old primary has are reverted by a failover. Fail points stall the replication of three members.
describeWithOwnEngines('a MongoDB failover while replication is stalled', () => {
  const own = closers();
  let set: MongoSet;

  beforeAll(async () => {
    // A new primary does not wait for what it lacks.
    set = await startMongoSet(own, { catchUpTimeoutMillis: 0, electionTimeoutMillis: 2_000 });
  });
  afterAll(() => own.closeAll(), 60_000);

  const stall = (of: readonly mongo.MongoClient[], mode: 'alwaysOn' | 'off') =>
    Promise.all(
      of.map((one) =>
        // A member closes its connections when it steps down or reverts writes.
        eventually(() => one.db('admin').command({ configureFailPoint: 'stopReplProducer', mode })),
      ),
    );
  const open = async (): Promise<{ connection: Connection; messages: Messages }> => {
    const connection = await openMongo(set.url('failover'), { log });
    return { connection, messages: await openMongoMessages({ connection, clock: Date.now, log }) };
  };

  test(
    'no acknowledged message vanishes from history',
    async () => {
      const lost: string[] = [];
      const figures = { reverted: 0, apiDeaths: 0, stallsMs: [] as number[] };
      const reader = await open();
      const fanning = await open();
      own.add(() => reader.connection.close());
      own.add(() => fanning.connection.close());
      for (let run = 0; run < runs; run += 1) {
        const random = randomSource(seed + run);
        const stallMs = Math.round(run === 0 ? stallMsMax : stallMsMin + random() * (stallMsMax - stallMsMin));
        const diesAfterMs = random() < 0.5 || run === 0 ? random() * stallMs : null;
        const [applyAfterMs, fanAfterMs] = [random() * 1_000, random() * 1_000];
        const now = Date.now();
        const topics = Array.from({ length: partitions }, () => newId());
        const record = (partition: number, place: number): PlacedRecord => {
          const message = testMessage(topics[partition]!, { timestamp: now, expiresAt: now + dayMs });
          return { ...published(run * 10 + place, message), partition };
        };
        const all = topics.map((_, partition) => [0, 1, 2].map((place) => record(partition, place)));
        const fanOutAll = (place: number) =>
          Promise.all(all.map((records) => fanOut(fanning.messages, records[place]!)));

        const api = await open();
        await api.messages.apply(all.map((records) => records[0]!));
        await fanOutAll(0);
        const primary = await set.findPrimary();
        const others = set.members.filter((_, index) => index !== primary);
        await stall(others, 'alwaysOn');
        await pause(1_500); // the fetch in progress ends
        // The log has the records, so they are acknowledged, whatever becomes of the API's write.
        const applied = pause(applyAfterMs)
          .then(() => api.messages.apply(all.map((records) => records[1]!)))
          .then(
            () => 0,
            () => 1,
          );
        const fanned = pause(fanAfterMs).then(() => fanOutAll(1));
        const dying =
          diesAfterMs === null ? Promise.resolve() : pause(diesAfterMs).then(() => api.connection.close(true));
        await pause(stallMs);
        await others[run % 2]!.db('admin')
          .command({ replSetStepUp: 1 })
          .catch(() => undefined); // an election that another one overtook
        await dying;
        await pause(1_000); // the new primary takes writes before it replicates them
        await stall(set.members, 'off');
        await fanned;
        figures.reverted += await applied;
        figures.apiDeaths += diesAfterMs === null ? 0 : 1;
        figures.stallsMs.push(stallMs);
        await api.connection.close();
        await set.findPrimary();
        await fanOutAll(2);
        for (const records of all) {
          for (const {
            partition,
            offset,
            record: { message },
          } of records) {
            const isKnown = (await reader.messages.find(message.id)) !== null;
            const isPassed = (await reader.messages.watermark(partition)) >= offset;
            if (!isKnown || !isPassed) lost.push(`seed ${seed + run}, partition ${partition}, offset ${offset}`);
          }
        }
      }
      printMeasurements('stalled failover', { runs, messages: runs * partitions * 3, lost: lost.length, ...figures });
      expect(lost).toEqual([]);
      expect(figures.apiDeaths).toBeGreaterThan(0);
    },
    60_000 + runs * (stallMsMax + 60_000),
  );
});
