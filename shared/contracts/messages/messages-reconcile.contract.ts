import { expect, test } from '@jest/globals';
import {
  day,
  deleted,
  edited,
  newId,
  published,
  testMessage,
  testTime,
  type MessagesFixture,
} from './messages.fixtures.ts';
import type { ReconciledRecord } from '../../ports/messages/message-ingest.ts';

const now = testTime;
const places = (reconciled: readonly ReconciledRecord[]) =>
  reconciled.map(({ offset, previousOffset }) => [offset, previousOffset]);

/** The fan-out's reconcile step and its watermark. */
export function describeReconcile(fixture: MessagesFixture): void {
  describeBatches(fixture);
  describeSecondCopies(fixture);
  describeWatermark(fixture);
}

function describeBatches({ messages, freeOffset, newPlace }: MessagesFixture): void {
  test("writes missing records and returns each record's predecessor in its topic", async () => {
    const offset = freeOffset();
    const [a, b] = [testMessage(newId()), testMessage(newId())];
    const records = [
      published(offset, a),
      published(offset + 1, b),
      edited(offset + 3, a, { message: 'edited' }),
      deleted(offset + 4, b),
    ];
    expect(await messages().reconcile(0, records)).toEqual([
      { ...records[0], previousOffset: null },
      { ...records[1], previousOffset: null },
      { ...records[2], previousOffset: offset },
      { ...records[3], previousOffset: offset + 1 },
    ]);
    expect((await messages().find(a.id))?.message).toBe('edited');
    expect((await messages().find(b.id))?.isDeleted).toBe(true);
    const next = published(offset + 6, testMessage(a.topicId));
    expect(places(await messages().reconcile(0, [next]))).toEqual([[offset + 6, offset + 3]]);
  });

  test('reconciling applied records changes nothing and is repeatable', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const records = [0, 1, 2].map((index) => published(offset + index, testMessage(topicId)));
    await messages().apply(records);
    const first = await messages().reconcile(0, records);
    expect(places(first)).toEqual([
      [offset, null],
      [offset + 1, offset],
      [offset + 2, offset + 1],
    ]);
    expect(await messages().reconcile(0, records)).toEqual(first);
    expect((await messages().topicStats([topicId])).get(topicId)?.messageCount).toBe(3);
  });

  test('an applied record above the batch is not a predecessor', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const records = [0, 1, 2, 3].map((index) => published(offset + index, testMessage(topicId)));
    await messages().apply([records[0]!, records[3]!]);
    expect(places(await messages().reconcile(0, records.slice(0, 2)))).toEqual([
      [offset, null],
      [offset + 1, offset],
    ]);
    expect(places(await messages().reconcile(0, records.slice(2)))).toEqual([
      [offset + 2, offset + 1],
      [offset + 3, offset + 2],
    ]);
  });

  test('a store continues correctly after another one reconciled in between', async () => {
    const place = await newPlace();
    try {
      const [one, other] = [await place.open(() => now), await place.open(() => now)];
      const topicId = newId();
      const records = Array.from({ length: 8 }, (_, index) => published(index, testMessage(topicId)));
      const reconciled: ReconciledRecord[] = [];
      for (let index = 0; index < 8; index += 2) {
        const store = index % 4 === 0 ? one : other;
        reconciled.push(...(await store.reconcile(0, records.slice(index, index + 2))));
        await store.moveWatermark(0, index + 1);
      }
      expect(places(reconciled)).toEqual(records.map(({ offset }) => [offset, offset === 0 ? null : offset - 1]));
    } finally {
      await place.close();
    }
  });

  test('omits records of expired messages', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const late = testMessage(topicId, { timestamp: now - 8 * day, expiresAt: now });
    const reconciled = await messages().reconcile(0, [
      published(offset, late),
      published(offset + 1, testMessage(topicId)),
    ]);
    expect(reconciled.map((one) => one.offset)).toEqual([offset + 1]);
    expect(await messages().find(late.id)).toBeNull();
  });

  test('reconciles a large batch of many topics', async () => {
    const offset = freeOffset();
    const topicIds = Array.from({ length: 100 }, newId);
    const records = Array.from({ length: 900 }, (_, index) =>
      published(offset + index, testMessage(topicIds[index % 100]!)),
    );
    await messages().apply(records.filter((_, index) => index % 3 !== 0));
    const reconciled = await messages().reconcile(0, records);
    expect(places(reconciled)).toEqual(
      records.map((one, index) => [one.offset, index < 100 ? null : one.offset - 100]),
    );
    expect((await messages().topicStats(topicIds)).get(topicIds[0]!)?.messageCount).toBe(9);
  });
}

function describeSecondCopies({ messages, freeOffset }: MessagesFixture): void {
  test('omits a duplicate, regardless of where the first record is', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const [inBatch, before, next] = [testMessage(topicId), testMessage(topicId), testMessage(topicId)];
    await messages().reconcile(0, [published(offset, before)]);
    const reconciled = await messages().reconcile(0, [
      published(offset + 1, inBatch),
      published(offset + 2, inBatch),
      published(offset + 3, before),
      published(offset + 4, next),
    ]);
    expect(places(reconciled)).toEqual([
      [offset + 1, offset],
      [offset + 4, offset + 1],
    ]);
    const records = await messages().records(topicId, { from: offset, upTo: offset + 9, limit: 10, now });
    expect(records.map((one) => one.offset)).toEqual([offset, offset + 1, offset + 4]);
  });

  test('keeps the first of two duplicates in a batch, even if the second was applied before', async () => {
    const offset = freeOffset();
    const message = testMessage(newId());
    const [first, second] = [published(offset, message), published(offset + 1, message)];
    await messages().apply([second]);
    expect(places(await messages().reconcile(0, [first, second]))).toEqual([[offset, null]]);
  });

  test('the first record replaces a duplicate that was applied earlier', async () => {
    const offset = freeOffset();
    const message = testMessage(newId());
    await messages().apply([published(offset + 1, message)]);
    expect(places(await messages().reconcile(0, [published(offset, message)]))).toEqual([[offset, null]]);
    expect(await messages().reconcile(0, [published(offset + 1, message)])).toEqual([]);
    expect(await messages().newest(message.topicId, { limit: 10, now })).toEqual([{ ...message, offset }]);
  });
}

function describeWatermark({ newPlace }: MessagesFixture): void {
  test('the watermark only increases and is visible to another store', async () => {
    const place = await newPlace();
    try {
      const messages = await place.open(() => now);
      expect(await messages.watermark(0)).toBe(-1);
      await messages.reconcile(0, [published(5, testMessage(newId()))]);
      await messages.moveWatermark(0, 5);
      await messages.moveWatermark(0, 3);
      expect(await messages.watermark(0)).toBe(5);
      expect(await (await place.open(() => now)).watermark(0)).toBe(5);
    } finally {
      await place.close();
    }
  });
}
