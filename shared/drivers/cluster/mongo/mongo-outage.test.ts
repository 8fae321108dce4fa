import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openLogger } from '../../../platform/logger.ts';
import type { AnyCollection } from '../../../ports/document-checks.ts';
import type { Deliveries } from '../../../ports/deliveries.ts';
import { write, type Documents } from '../../../ports/documents.ts';
import { devices } from '../../../collections/devices-collection.ts';
import { subscriptions } from '../../../collections/subscriptions-collection.ts';
import type { CuttableLink } from '../../../testing/cuttable-link.ts';
import { eventually } from '../../../testing/eventually.ts';
import { describeWithEngines } from '../../../testing/describe-with-engines.ts';
import { newThing, thingCollections, things } from '../../../testing/thing.ts';
import { openMongo } from './mongo-connection.ts';
import { openMongoDeliveries } from './deliveries/mongo-deliveries.ts';
import { openMongoDocuments } from './documents/mongo-documents.ts';
import { mongoTestDatabase, type MongoTestDatabase } from './mongo-test-database.fixtures.ts';

const log = openLogger('test', 'silent');
const collections: readonly AnyCollection[] = [...thingCollections, subscriptions, devices];
const claim = {
  messageId: 'm',
  deviceId: 'd',
  topicId: 't',
  userId: 'u',
  subscriptionId: 's',
  platform: 'ios',
} as const;

describeWithEngines('during an outage of MongoDB', ({ mongoUrl }) => {
  let database: MongoTestDatabase;
  let link: CuttableLink;
  let documents: Documents;
  let deliveries: Deliveries;
  let close: () => Promise<void>;
  beforeAll(async () => {
    database = mongoTestDatabase(mongoUrl, 'outage');
    const opened = await database.openLink();
    link = opened.link;
    const connection = await openMongo(opened.url, { log });
    close = () => connection.close();
    documents = await openMongoDocuments({ connection, collections, log });
    deliveries = await openMongoDeliveries({ connection, subscriptions, devices });
  });
  afterAll(async () => {
    await close();
    await link.close();
    await database.drop();
  });

  const operations: [string, () => Promise<unknown>][] = [
    ['get', () => documents.get(things, 'a')],
    ['find', () => documents.find(things, { index: 'byName', equals: { name: 'a' }, limit: 1 })],
    ['insert', () => documents.insert(things, newThing('b'))],
    ['update', () => documents.update(things, { id: 'a', version: 1 }, { rank: 1 })],
    ['commit', () => documents.commit([write.insert(things, newThing('b')), write.remove(things, 'b')])],
    ['ping', () => documents.ping()],
    [
      'recipients',
      () => deliveries.recipients({ topicId: 't', message: { priority: 3, tags: [] } }, { after: null, limit: 5 }),
    ],
    ['claim', () => deliveries.claim([claim], { now: 1, staleAfterMs: 1 })],
    ['record', () => deliveries.record([{ ...claim, status: 'sent', reason: null }], 1)],
    ['skip', () => deliveries.record([{ ...claim, status: 'skipped', reason: null }], 1)],
    ['find deliveries', () => deliveries.find('m', { limit: 1 })],
    ['counts', () => deliveries.counts('m')],
    ['removeBefore', () => deliveries.removeBefore(1, 1)],
    ['removeOfUser', () => deliveries.removeOfUser('u', 1)],
  ];

  test.each([['cut' as const], ['freeze' as const]])(
    '(%s) rejects every operation as unavailable and works again after recovery',
    async (outage) => {
      const id = `before-${outage}`;
      await documents.insert(things, newThing(id));
      link[outage]();
      const answers = await Promise.all(
        operations.map(async ([name, operation]) => [name, await operation().catch((error: unknown) => error)]),
      );
      for (const [name, answer] of answers)
        expect([name, answer]).toEqual([name, expect.objectContaining({ code: 'unavailable' })]);
      const askedAt = performance.now();
      await expect(documents.get(things, id)).rejects.toMatchObject({ code: 'unavailable' });
      // Two seconds are guaranteed once the outage is known; the rest is tolerance for a slow machine.
      expect(performance.now() - askedAt).toBeLessThan(4_000);
      link.restore();
      expect(await eventually(() => documents.get(things, id))).toMatchObject({ id });
      await documents.insert(things, newThing(`after-${outage}`));
    },
  );

  test('reports a missing server as unavailable at the start', async () => {
    link.cut();
    const url = new URL(database.url);
    url.host = `127.0.0.1:${link.port}`;
    await expect(openMongo(url.href, { log })).rejects.toMatchObject({ code: 'unavailable' });
    link.restore();
  });
});
