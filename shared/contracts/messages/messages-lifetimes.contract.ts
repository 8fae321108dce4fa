import { expect, test } from '@jest/globals';
import { day, deleted, edited, newId, published, removeExpired, testMessage, testTime } from './messages.fixtures.ts';
import type { Messages } from '../../ports/messages/messages.ts';

/** Changes of the retention of stored messages. */
export function describeLifetimes(at: () => Messages): void {
  const change = { lifetimeMs: 10 * day, onlyLonger: false, after: -1, limit: 100, now: testTime };

  test('changes expiries in batches by offset, and reads apply them', async () => {
    const [topicId, other] = [newId(), newId()];
    const ages = [20, 9, 0, 1];
    const messages = ages.map((days) =>
      testMessage(topicId, { timestamp: testTime - days * day, expiresAt: testTime - days * day + 30 * day }),
    );
    await at().apply([
      ...messages.map((message, index) => published(2 * index, message)),
      published(1, testMessage(other, { expiresAt: testTime + 30 * day })),
    ]);
    expect(await at().countAfter([{ topicId, after: 0 }], { max: 10, now: testTime })).toEqual([4]);
    expect(await at().changeLifetime(topicId, { ...change, limit: 3 })).toBe(4);
    expect(await at().changeLifetime(topicId, { ...change, after: 4, limit: 3 })).toBe(6);
    expect(await at().changeLifetime(topicId, { ...change, after: 6 })).toBeNull();
    expect(await at().changeLifetime(newId(), change)).toBeNull();
    expect(
      (await at().newest(topicId, { limit: 10, now: testTime })).map(({ offset, expiresAt }) => [
        offset,
        expiresAt - testTime,
      ]),
    ).toEqual([
      [2, day],
      [4, 10 * day],
      [6, 9 * day],
    ]);
    expect(await at().countAfter([{ topicId, after: 0 }], { max: 10, now: testTime })).toEqual([3]);
    expect(
      (await at().records(topicId, { from: 0, upTo: 9, limit: 10, now: testTime })).map(({ offset }) => offset),
    ).toEqual([2, 4, 6]);
    expect((await at().newest(other, { limit: 1, now: testTime }))[0]?.expiresAt).toBe(testTime + 30 * day);
    // Finds messages again that a sweep has already passed.
    expect(await removeExpired(at(), testTime, 10)).toEqual(new Map([[topicId, 1]]));
    expect(await at().changeLifetime(topicId, { ...change, lifetimeMs: 5 * day })).toBe(6);
    expect(await removeExpired(at(), testTime, 10)).toEqual(new Map([[topicId, 1]]));
    expect((await at().topicStats([topicId])).get(topicId)?.messageCount).toBe(2);
  });

  test('a longer lifetime does not restore expired messages, and onlyLonger shortens none', async () => {
    const topicId = newId();
    const living = (days: number) =>
      testMessage(topicId, { timestamp: testTime - day, expiresAt: testTime + days * day });
    const edit = living(2);
    await at().apply([
      published(0, testMessage(topicId, { timestamp: testTime - day, expiresAt: testTime + 1 })),
      published(1, edit),
      published(2, living(40)),
    ]);
    const expiries = async () =>
      (await at().newest(topicId, { limit: 10, now: testTime })).map(({ expiresAt }) =>
        Math.floor((expiresAt - testTime) / day),
      );
    const expired = { ...change, now: testTime + 1 };
    await at().changeLifetime(topicId, { ...expired, onlyLonger: true });
    expect(await expiries()).toEqual([0, 9, 40]);
    await at().changeLifetime(topicId, { ...expired, lifetimeMs: 100 * day });
    expect(await expiries()).toEqual([0, 99, 99]);
    // A late edit made before the change has the former expiry.
    await at().apply([edited(3, edit, { message: 'x' })]);
    expect(await expiries()).toEqual([0, 99, 99]);
  });
}

/** The correction of a topic's message count. */
export function describeRecounting(at: () => Messages): void {
  test('a correct count does not change, even during writes and removals', async () => {
    const topicId = newId();
    const gone = testMessage(topicId);
    const batch = (n: number) =>
      Array.from({ length: 50 }, (_, index) =>
        published(10 + n * 50 + index, testMessage(topicId, { expiresAt: testTime + 1 + n })),
      );
    await at().apply([
      published(0, gone),
      published(1, testMessage(topicId)),
      edited(2, gone, { message: 'x' }),
      deleted(3, gone),
    ]);
    const working = (async () => {
      for (let n = 0; n < 10; n++) {
        await at().apply(batch(n));
        await at().removeExpired(testTime + 1 + n, 20);
      }
    })();
    for (let n = 0; n < 5; n++) expect(await at().recount(topicId)).toBe(0);
    await working;
    expect(await at().recount(topicId)).toBe(0);
    expect((await at().topicStats([topicId])).get(topicId)!.messageCount).toBe(1 + 10 * 30);
    expect(await at().recount(newId())).toBe(0);
  });
}
