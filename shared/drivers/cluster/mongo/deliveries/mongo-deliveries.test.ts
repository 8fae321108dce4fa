import { expect, test } from '@jest/globals';
import type { AnyCollection } from '../../../../ports/document-checks.ts';
import { deliveriesContract } from '../../../../contracts/deliveries/deliveries.contract.ts';
import { openLogger } from '../../../../platform/logger.ts';
import { devices } from '../../../../collections/devices-collection.ts';
import { subscriptions } from '../../../../collections/subscriptions-collection.ts';
import { useLedger } from '../../../../contracts/deliveries/use-ledger.ts';
import { write } from '../../../../ports/documents.ts';
import { newClaim, newId, newSubscription } from '../../../../testing/builders.ts';
import { describeWithEngines } from '../../../../testing/describe-with-engines.ts';
import { openMongoDeliveries } from './mongo-deliveries.ts';
import { openMongoDocuments } from '../documents/mongo-documents.ts';
import { mongoTestDatabase } from '../mongo-test-database.fixtures.ts';

const urlOf = (relative: string) => JSON.stringify(new URL(relative, import.meta.url).href);
const now = 1_800_000_000_000;
const collections: readonly AnyCollection[] = [subscriptions, devices];

describeWithEngines('on MongoDB', ({ mongoUrl }) => {
  deliveriesContract('MongoDB', async () => {
    const database = mongoTestDatabase(mongoUrl, 'deliveries');
    return {
      open: async () => {
        const connection = await database.connect();
        const documents = await openMongoDocuments({ connection, collections, log: openLogger('test', 'silent') });
        return { documents, deliveries: await openMongoDeliveries({ connection, subscriptions, devices }) };
      },
      childCode: `
        const { openLogger } = await import(${urlOf('../../../../platform/logger.ts')});
        const { openMongo } = await import(${urlOf('../mongo-connection.ts')});
        const { openMongoDeliveries } = await import(${urlOf('./mongo-deliveries.ts')});
        const { subscriptions } = await import(${urlOf('../../../../collections/subscriptions-collection.ts')});
        const { devices } = await import(${urlOf('../../../../collections/devices-collection.ts')});
        const connection = await openMongo(${JSON.stringify(database.url)}, { log: openLogger('test', 'silent') });
        const deliveries = await openMongoDeliveries({ connection, subscriptions, devices });`,
      close: () => database.drop(),
    };
  });

  test('removes rows of an earlier version, which had an index by time', async () => {
    const database = mongoTestDatabase(mongoUrl, 'deliveries');
    try {
      const connection = await database.connect();
      const ledger = connection.collection('deliveries');
      await ledger.createIndex({ updatedAt: 1 }, { name: 'byTime' });
      const deliveries = await openMongoDeliveries({ connection, subscriptions, devices });
      const messageId = newId();
      const claims = Array.from({ length: 5 }, () => newClaim(messageId));
      for (const [place, claim] of claims.entries())
        await deliveries.claim([claim], { now: now + place * 3_600_000, staleAfterMs: 1 });
      await ledger.updateMany({}, { $unset: { slot: 1 } });
      const left = async () =>
        (await deliveries.find(messageId, { limit: 10 })).map(({ deviceId }) =>
          claims.findIndex((claim) => claim.deviceId === deviceId),
        );
      expect(await deliveries.removeBefore(now + 3 * 3_600_000, 2)).toBe(2);
      expect(await deliveries.removeBefore(now + 3 * 3_600_000, 2)).toBe(1);
      expect(await left()).toEqual([3, 4]);
      expect((await ledger.indexes()).map(({ name }) => name)).toEqual(['_id_', 'byUser', 'bySlot']);
    } finally {
      await database.drop();
    }
  });

  test('every command on the ledger uses an index, and every index is used', async () => {
    const database = mongoTestDatabase(mongoUrl, 'deliveries');
    try {
      const connection = await database.connect();
      const documents = await openMongoDocuments({ connection, collections, log: openLogger('test', 'silent') });
      const deliveries = await openMongoDeliveries({ connection, subscriptions, devices });
      await connection.db!.command({ profile: 2 });
      await useLedger(deliveries);
      await connection.db!.command({ profile: 0 });
      const commands = await connection
        .db!.collection('system.profile')
        .find({ ns: `${connection.name}.deliveries`, op: { $in: ['query', 'update', 'remove', 'command', 'getmore'] } })
        .toArray();
      const plans = commands.map(({ planSummary }) => String(planSummary)).filter((plan) => plan !== 'undefined');
      expect(plans.length).toBeGreaterThan(10);
      expect(plans.filter((plan) => !/IXSCAN|IDHACK|EXPRESS/.test(plan))).toEqual([]);
      const stats = await connection
        .collection('deliveries')
        .aggregate([{ $indexStats: {} }])
        .toArray();
      expect(stats.filter(({ accesses }) => Number(accesses.ops) === 0).map(({ name }) => name)).toEqual([]);
      await documents.close();
    } finally {
      await database.drop();
    }
  });

  test('finds recipients in the order of the index, and topics with recipients by a key each', async () => {
    const database = mongoTestDatabase(mongoUrl, 'deliveries');
    try {
      const connection = await database.connect();
      const documents = await openMongoDocuments({ connection, collections, log: openLogger('test', 'silent') });
      const deliveries = await openMongoDeliveries({ connection, subscriptions, devices });
      const [topicId, muted] = [newId(), newId()];
      const off = { mobileEnabled: false, webEnabled: false };
      await documents.commit(
        Array.from({ length: 900 }, (_, n) =>
          write.insert(subscriptions, newSubscription(newId(), n < 300 ? topicId : muted, n < 300 ? {} : off)),
        ),
      );
      await connection.db!.command({ profile: 2 });
      const message = { priority: 3 as const, tags: [] };
      expect((await deliveries.recipients({ topicId, message }, { after: null, limit: 50 })).recipients).toHaveLength(
        50,
      );
      expect(await deliveries.topicsWithRecipients([topicId, muted])).toEqual(new Set([topicId]));
      await connection.db!.command({ profile: 0 });
      const [page, lookup] = await connection
        .db!.collection('system.profile')
        .find({ ns: `${connection.name}.subscriptions` })
        .sort({ ts: 1 })
        .toArray();
      expect(page).toMatchObject({ op: 'query', docsExamined: 51 });
      expect(page!['hasSortStage']).toBeUndefined();
      expect(lookup).toMatchObject({ op: 'command', planSummary: expect.stringContaining('DISTINCT_SCAN') });
      expect(lookup!['keysExamined']).toBeLessThan(10);
      await documents.close();
    } finally {
      await database.drop();
    }
  });
});
