import { expect, test } from '@jest/globals';
import type { Message } from '../../domain/messages/message.ts';
import type { Messages } from '../../ports/messages/messages.ts';
import { acknowledged, day, deleted, edited, newId, published, testMessage, testTime } from './messages.fixtures.ts';

/** The removal of messages that were read before, as for an archive. */
export function describeRemovalInState(at: () => Messages): void {
  const expired = { expiresAt: testTime + 1 };
  const read = (topicId: string, after = -1, limit = 100) =>
    at().expiredOf(topicId, { after, time: testTime + 1, limit });

  test('returns expired messages with their text, by offset, in pages', async () => {
    const [topicId, other] = [newId(), newId()];
    const all = Array.from({ length: 2_100 }, (_, index) =>
      testMessage(topicId, { ...(index % 700 === 0 ? expired : {}), message: `text ${index}` }),
    );
    const wasDeleted = all[700]!;
    await at().apply([
      ...all.map((message, index) => published(index, message)),
      published(2_100, testMessage(other, expired)),
      deleted(2_101, wasDeleted, testTime + 5),
      deleted(2_102, all[1]!),
      edited(2_103, testMessage(topicId, expired), { message: 'without its message' }),
    ]);
    expect((await read(topicId)).map(({ message }) => message)).toEqual([
      { ...all[0]!, offset: 0 },
      { ...wasDeleted, isDeleted: true, deletedAt: testTime + 5, offset: 700 },
      { ...all[1_400]!, offset: 1_400 },
    ]);
    const offsets = async (after: number, limit: number) =>
      (await read(topicId, after, limit)).map(({ message }) => message.offset);
    expect([await offsets(0, 1), await offsets(700, 9), await offsets(1_400, 9)]).toEqual([[700], [1_400], []]);
    expect(await read(newId())).toEqual([]);
  });

  test('removes the given messages, with counts and records, but none that changed since they were read', async () => {
    const topicId = newId();
    const all = Array.from({ length: 6 }, () => testMessage(topicId, expired));
    const [first, wasEdited, wasAcknowledged, wasDeleted] = all as [Message, Message, Message, Message];
    await at().apply([...all.map((message, index) => published(index, message)), edited(6, first, { message: 'x' })]);
    const states = (await read(topicId)).map(({ state }) => state);
    await at().apply([
      edited(7, wasEdited, { message: 'later' }),
      acknowledged(8, wasAcknowledged),
      deleted(9, wasDeleted, testTime + 5),
    ]);
    const given = states.slice(0, 5);
    expect(await at().removeInState(topicId, { time: testTime, states: given })).toEqual({ messages: 0, bytes: 0 });
    expect(await at().removeInState(newId(), { time: testTime + 1, states: given })).toEqual({ messages: 0, bytes: 0 });
    const removed = await at().removeInState(topicId, { time: testTime + 1, states: given });
    expect(removed).toEqual({ messages: 2, bytes: 1 + all[4]!.message.length });
    expect((await read(topicId)).map(({ message }) => message.offset)).toEqual([1, 2, 3, 5]);
    expect((await at().topicStats([topicId])).get(topicId)?.messageCount).toBe(3);
    expect(await at().removeInState(topicId, { time: testTime + 1, states: given })).toEqual({ messages: 0, bytes: 0 });
    const fresh = (await read(topicId)).map(({ state }) => state);
    expect((await at().removeInState(topicId, { time: testTime + 1, states: fresh })).messages).toBe(4);
    expect((await at().topicStats([topicId])).get(topicId)?.messageCount).toBe(0);
    expect(await at().records(topicId, { from: 0, upTo: 99, limit: 10, now: 0 })).toEqual([]);
  });

  test('removes expired edits without a message together with any messages, or alone', async () => {
    const topicId = newId();
    await at().apply([
      edited(1, testMessage(topicId, expired), { message: 'x' }),
      edited(2, testMessage(topicId), { message: 'not expired' }),
    ]);
    const removal = { time: testTime + 1, states: [] };
    expect((await at().removeInState(topicId, removal)).messages).toBe(1);
    expect((await at().removeInState(topicId, removal)).messages).toBe(0);
    expect(await at().countExpired(testTime + 30 * day, { max: 10 })).toBe(1);
  });

  test('removes more messages than a batch', async () => {
    const topicId = newId();
    await at().apply(Array.from({ length: 1_100 }, (_, index) => published(index, testMessage(topicId, expired))));
    const states = (await read(topicId, -1, 2_000)).map(({ state }) => state);
    expect((await at().removeInState(topicId, { time: testTime + 1, states })).messages).toBe(1_100);
    expect(await read(topicId)).toEqual([]);
  });
}

export function describeHeld(at: () => Messages): void {
  test('returns expired and deleted messages with their text, by offset, in pages', async () => {
    const [topicId, other] = [newId(), newId()];
    const long = { expiresAt: testTime + 90 * day };
    const all = Array.from({ length: 2_100 }, (_, index) =>
      testMessage(topicId, { ...(index % 700 === 0 ? { expiresAt: testTime + 1 } : long), message: `text ${index}` }),
    );
    const wasDeleted = all[1_000]!;
    await at().apply([
      ...all.map((message, index) => published(index, message)),
      published(2_100, testMessage(other, { expiresAt: testTime + 1 })),
      deleted(2_101, wasDeleted, testTime + 5),
      deleted(2_102, testMessage(topicId, long)),
    ]);
    const page = (after: number, limit: number, time = testTime + 1) => at().held(topicId, { after, time, limit });
    expect(await page(-1, 10)).toEqual([
      { ...all[0]!, offset: 0 },
      { ...all[700]!, offset: 700 },
      { ...wasDeleted, isDeleted: true, deletedAt: testTime + 5, offset: 1_000 },
      { ...all[1_400]!, offset: 1_400 },
    ]);
    expect((await page(0, 2)).map(({ offset }) => offset)).toEqual([700, 1_000]);
    expect((await page(1_000, 2)).map(({ offset }) => offset)).toEqual([1_400]);
    expect((await page(-1, 10, testTime)).map(({ offset }) => offset)).toEqual([1_000]);
    expect(await at().held(newId(), { after: -1, time: testTime + 1, limit: 10 })).toEqual([]);
  });
}
