import { expect, test } from '@jest/globals';
import type { RecordCountRequest } from '../../ports/messages/message-reads.ts';
import type { Messages } from '../../ports/messages/messages.ts';
import { day, deleted, edited, newId, published, testMessage, testTime } from './messages.fixtures.ts';

/** What the store knows about records that are gone. */
export function describeLost(at: () => Messages): void {
  const short = { expiresAt: testTime + 1_000 };
  const later = testTime + 1_000;
  const all = { from: 0, before: 100, now: testTime };

  test('finds the last record before an offset that has expired, then the same one when it is removed', async () => {
    const topicId = newId();
    const [first, second, third] = [testMessage(topicId, short), testMessage(topicId, short), testMessage(topicId)];
    await at().apply([published(1, first), published(2, testMessage(newId(), short)), published(4, second)]);
    await at().apply([edited(5, first, { message: 'x' }), published(7, third)]);
    const lost = (from: number, before: number, now: number) => at().lastLost(topicId, { from, before, now });
    const all = async (now: number) => [
      await lost(0, 7, now),
      await lost(5, 7, now),
      await lost(6, 7, now),
      await lost(4, 100, now),
    ];
    expect(await all(testTime)).toEqual([null, null, null, null]);
    expect(await all(later)).toEqual([5, 5, null, 5]);
    await at().removeExpired(later, 100);
    expect(await all(testTime)).toEqual([5, 5, null, 5]);
  });

  test('finds records that were removed between others, and forgets a topic', async () => {
    const topicId = newId();
    const messages = [0, 1, 2, 3, 4].map((index) => testMessage(topicId, index % 2 === 1 ? short : {}));
    await at().apply(messages.map((message, index) => published(index, message)));
    await at().removeExpired(later, 100);
    const lost = (from: number, before: number) => at().lastLost(topicId, { from, before, now: testTime });
    expect([await lost(0, 1), await lost(1, 2), await lost(2, 3), await lost(0, 5)]).toEqual([null, 1, null, 3]);
    await at().removeExpired(testTime + 7 * day, 100);
    expect(await lost(0, 5)).toBe(4);
    await at().apply([published(9, testMessage(topicId, { expiresAt: testTime + 8 * day }))]);
    expect([await lost(0, 9), await lost(5, 9)]).toEqual([4, null]);
    while ((await at().removeTopic(topicId, 10)) > 0);
    expect(await lost(0, 100)).toBeNull();
  });

  test('a record that no reader could get is not lost', async () => {
    const topicId = newId();
    const message = testMessage(topicId, short);
    await at().apply([edited(3, message, { message: 'x' })]);
    expect(await at().lastLost(topicId, { ...all, now: later })).toBeNull();
    await at().removeExpired(later, 10);
    expect(await at().lastLost(topicId, all)).toBeNull();
    const kept = testMessage(topicId);
    await at().apply([published(4, kept), deleted(5, kept)]);
    expect(await at().lastLost(topicId, all)).toBeNull();
    expect(await at().lastLost(newId(), all)).toBeNull();
  });

  test('counts readable and expired records from an offset, up to a limit', async () => {
    const topicId = newId();
    const [first, second] = [testMessage(topicId, short), testMessage(topicId)];
    await at().apply([published(1, first), published(2, second), edited(3, first, { message: 'x' })]);
    await at().apply([edited(4, second, { message: 'y' }), published(5, testMessage(newId()))]);
    const count = (given: Partial<RecordCountRequest> = {}) =>
      at().countRecords(topicId, { from: 0, max: 10, since: 0, now: testTime, ...given });
    expect(await count()).toEqual({ readable: 4, expired: 0, isComplete: true });
    expect(await count({ from: 2 })).toEqual({ readable: 3, expired: 0, isComplete: true });
    expect(await count({ from: 5 })).toEqual({ readable: 0, expired: 0, isComplete: true });
    expect(await count({ max: 1 })).toEqual({ readable: 2, expired: 0, isComplete: false });
    expect(await count({ now: later })).toEqual({ readable: 2, expired: 2, isComplete: true });
    expect(await count({ now: later, since: later })).toMatchObject({ readable: 2, expired: 0 });
    await at().removeExpired(later, 100);
    expect(await count({ now: later })).toEqual({ readable: 2, expired: 0, isComplete: true });
    expect(await at().countRecords(newId(), { from: 0, max: 10, since: 0, now: 0 })).toMatchObject({ readable: 0 });
  });
}
