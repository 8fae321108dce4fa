import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openLogger } from '../../../../platform/logger.ts';
import {
  deleted,
  edited,
  newId,
  published,
  testMessage,
  testTime,
} from '../../../../contracts/messages/messages.fixtures.ts';
import type { Messages } from '../../../../ports/messages/messages.ts';
import type { CuttableLink } from '../../../../testing/cuttable-link.ts';
import { eventually } from '../../../../testing/eventually.ts';
import { describeWithEngines } from '../../../../testing/describe-with-engines.ts';
import { openMongo } from '../mongo-connection.ts';
import { openMongoMessages } from './mongo-messages.ts';
import { mongoTestDatabase, type MongoTestDatabase } from '../mongo-test-database.fixtures.ts';

const log = openLogger('test', 'silent');
const now = testTime;

describeWithEngines('messages during an outage of MongoDB', ({ mongoUrl }) => {
  let database: MongoTestDatabase;
  let link: CuttableLink;
  let messages: Messages;
  let close: () => Promise<void>;
  beforeAll(async () => {
    database = mongoTestDatabase(mongoUrl, 'messages-outage');
    const opened = await database.openLink();
    link = opened.link;
    const connection = await openMongo(opened.url, { log });
    close = () => connection.close();
    messages = await openMongoMessages({ connection, clock: () => now, log });
  });
  afterAll(async () => {
    await close();
    await link.close();
    await database.drop();
  });

  const message = testMessage(newId());
  const records = [published(0, message), edited(1, message, { message: 'edited' }), deleted(2, message)];
  const { topicId } = message;
  const operations: [string, () => Promise<unknown>][] = [
    ['apply', () => messages.apply(records)],
    ['apply of a change', () => messages.apply([deleted(2, message)])],
    ['settle', () => messages.reconcile(0, records)],
    ['watermark', () => messages.watermark(0)],
    ['moveWatermark', () => messages.moveWatermark(0, 1)],
    ['find', () => messages.find(message.id)],
    ['newest', () => messages.newest(topicId, { limit: 5, now })],
    ['after', () => messages.after(topicId, { after: 0, upTo: 9, limit: 5, now })],
    ['records', () => messages.records(topicId, { from: 0, upTo: 9, limit: 5, now })],
    ['offsetAtTime', () => messages.offsetAtTime(topicId, now)],
    ['lastOffsets', () => messages.lastOffsets([topicId])],
    ['findMany', () => messages.findMany([message.id])],
    ['newestOfEach', () => messages.newestOfEach([topicId], now)],
    ['topicStats', () => messages.topicStats([topicId])],
    ['removeExpired', () => messages.removeExpired(0, 10)],
    ['removeTopic', () => messages.removeTopic(newId(), 10)],
    ['ping', () => messages.ping()],
  ];

  test.each([['cut' as const], ['freeze' as const]])(
    '(%s) rejects every call as unavailable and works again after recovery',
    async (outage) => {
      await messages.ping();
      link[outage]();
      const askedAt = performance.now();
      await expect(messages.ping()).rejects.toMatchObject({ code: 'unavailable' });
      // Two seconds are guaranteed; the rest is tolerance for a slow machine.
      expect(performance.now() - askedAt).toBeLessThan(4_000);
      const answers = await Promise.all(
        operations.map(async ([name, operation]) => [name, await operation().catch((error: unknown) => error)]),
      );
      for (const [name, answer] of answers)
        expect([name, answer]).toEqual([name, expect.objectContaining({ code: 'unavailable' })]);
      link.restore();
      await eventually(() => messages.ping().then(() => true));
      for (const [name, operation] of operations) await operation().then(() => name);
    },
  );

  test('stores and counts records once if they are applied again after an outage', async () => {
    const topic = newId();
    const again = Array.from({ length: 300 }, (_, index) => published(1_000 + index, testMessage(topic)));
    const inPieces = () => Promise.all(again.map((record) => messages.apply([record]).catch(() => undefined)));
    const first = inPieces();
    await eventually(async () => (await messages.lastOffsets([topic])).get(topic)! >= 0);
    link.cut();
    await first;
    link.restore();
    await eventually(() => messages.apply(again).then(() => true));
    const history = await messages.newest(topic, { limit: 1_000, now });
    expect(history.map(({ offset }) => offset)).toEqual(again.map(({ offset }) => offset));
    expect((await messages.topicStats([topic])).get(topic)?.messageCount).toBe(again.length);
  });
});
