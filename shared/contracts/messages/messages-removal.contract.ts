import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { MessageVolume } from '../../domain/messages/message-volume.ts';
import { redacted } from '../../domain/messages/message.ts';
import {
  day,
  deleted,
  edited,
  fullExtras,
  newId,
  published,
  removeExpired,
  testMessage,
  testTime,
  type MessagesPlace,
  type MessagesFixture,
} from './messages.fixtures.ts';
import { describeLifetimes, describeRecounting } from './messages-lifetimes.contract.ts';
import { describeHeld, describeRemovalInState } from './messages-in-state.contract.ts';
import { describeLost } from './messages-lost.contract.ts';
import type { Messages } from '../../ports/messages/messages.ts';

function describeForgetting(messages: () => Messages): void {
  test('forgets an account as publisher and acknowledger, and changes nothing else', async () => {
    const full = testMessage(newId(), fullExtras);
    const { accountId } = fullExtras.publishedBy!;
    const other = { kind: 'account', name: 'bob', accountId: newId() } as const;
    const ofOther = testMessage(full.topicId, { publishedBy: other, click: `https://example.com/${accountId}` });
    await messages().apply([published(1, full), published(2, ofOther)]);
    await messages().forgetAccount(accountId!);
    const by = { kind: 'account', name: null, accountId: null };
    expect(await messages().find(full.id)).toEqual({
      ...full,
      offset: 1,
      publishedBy: { kind: 'api_key', name: null, accountId: null },
      acknowledgement: { ...full.acknowledgement, by, note: null },
    });
    expect(await messages().find(ofOther.id)).toEqual({ ...ofOther, offset: 2 });
  });
}

/** Sweeps see all topics, so each test has its own store. */
export function describeMessageRemoval({ newPlace }: MessagesFixture): void {
  describe('removal', () => {
    let place: MessagesPlace;
    let messages: Messages;
    let now: number;
    beforeEach(async () => {
      now = testTime;
      place = await newPlace();
      messages = await place.open(() => now);
    });
    afterEach(() => place.close());

    describeExpiry(
      () => messages,
      (time) => (now = time),
    );
    describeLost(() => messages);
    describeTopics(() => messages);
    describeEmptying(() => messages);
    describeForgetting(() => messages);
    describePlanning(() => messages);
    describeHeld(() => messages);
    describeRemovalInState(() => messages);
    describeLifetimes(() => messages);
    describeRecounting(() => messages);
  });
}

function describeExpiry(at: () => Messages, setNow: (time: number) => void): void {
  test('removes expired messages, oldest first, up to the limit, until none is left', async () => {
    const [one, other] = [newId(), newId()];
    // Offset and expiry have opposite orders.
    const records = Array.from({ length: 10 }, (_, index) =>
      published(index, testMessage(index < 5 ? one : other, { expiresAt: testTime + (10 - index) * 1_000 })),
    );
    await at().apply(records);
    const time = testTime + 8_000;
    expect(await removeExpired(at(), time, 4)).toEqual(new Map([[other, 4]]));
    expect((await at().newest(other, { limit: 10, now: testTime })).map(({ offset }) => offset)).toEqual([5]);
    expect(await removeExpired(at(), time, 4)).toEqual(
      new Map([
        [other, 1],
        [one, 3],
      ]),
    );
    expect(await removeExpired(at(), time, 4)).toEqual(new Map());
    expect((await at().newest(one, { limit: 10, now: testTime })).map(({ offset }) => offset)).toEqual([0, 1]);
    expect(await at().topicStats([one, other])).toEqual(
      new Map([
        [one, { messageCount: 2, lastMessageAt: testTime }],
        [other, { messageCount: 0, lastMessageAt: testTime }],
      ]),
    );
    expect((await at().lastOffsets([other])).get(other)).toBe(9);
  });

  test('keeps messages of a held topic without blocking other topics', async () => {
    const [held, other] = [newId(), newId()];
    const records = Array.from({ length: 10 }, (_, index) =>
      published(index, testMessage(index < 8 ? held : other, { expiresAt: testTime + 1 + index })),
    );
    await at().apply(records);
    expect(await removeExpired(at(), testTime + 1_000, 2, [held, newId()])).toEqual(new Map([[other, 2]]));
    expect(await removeExpired(at(), testTime + 1_000, 2, [held])).toEqual(new Map());
    expect((await at().topicStats([held])).get(held)?.messageCount).toBe(8);
    expect(await removeExpired(at(), testTime + 1_000, 100, [])).toEqual(new Map([[held, 8]]));
  });

  test('removes a message with its records, and does not count deleted ones twice', async () => {
    const topicId = newId();
    const [gone, kept] = [testMessage(topicId, { expiresAt: testTime + 1 }), testMessage(topicId)];
    const wasDeleted = testMessage(topicId, { expiresAt: testTime + 1 });
    await at().apply([
      published(0, gone),
      published(1, kept),
      published(2, wasDeleted),
      edited(3, gone, { message: 'x' }),
      edited(4, kept, { message: 'y' }),
      deleted(5, wasDeleted),
    ]);
    expect(await removeExpired(at(), testTime + 1, 1_000)).toEqual(new Map([[topicId, 2]]));
    const records = await at().records(topicId, { from: 0, upTo: 9, limit: 10, now: 0 });
    expect(records.map(({ offset }) => offset)).toEqual([1, 4]);
    expect(await at().offsetAtTime(topicId, testTime + 1)).toBe(4);
    expect(await at().find(gone.id)).toBeNull();
    expect((await at().topicStats([topicId])).get(topicId)?.messageCount).toBe(1);
  });

  test('removes an edit without a message', async () => {
    const topicId = newId();
    await at().apply([edited(1, testMessage(topicId, { expiresAt: testTime + 1 }), { message: 'x' })]);
    expect(await removeExpired(at(), testTime + 1, 10)).toEqual(new Map([[topicId, 1]]));
    expect(await removeExpired(at(), testTime + 1, 10)).toEqual(new Map());
    expect((await at().topicStats([topicId])).get(topicId)?.messageCount).toBe(0);
  });

  test('a replay of the log does not restore removed messages', async () => {
    const topicId = newId();
    const message = testMessage(topicId, { expiresAt: testTime + 7 * day });
    const records = [published(0, message), edited(1, message, { message: 'x' }), deleted(2, message)];
    await at().apply(records);
    const later = testTime + 7 * day;
    setNow(later);
    await at().removeExpired(later, 10);
    await at().apply(records);
    await at().reconcile(0, records);
    expect(await at().find(message.id)).toBeNull();
    expect(await at().records(topicId, { from: 0, upTo: 9, limit: 10, now: 0 })).toEqual([]);
    expect((await at().topicStats([topicId])).get(topicId)).toEqual({ messageCount: 0, lastMessageAt: testTime });
  });

  test('counts stay correct after a large removal', async () => {
    const topicId = newId();
    await at().apply(
      Array.from({ length: 1_200 }, (_, index) =>
        published(index, testMessage(topicId, { expiresAt: testTime + (index < 1_100 ? 1 : day) })),
      ),
    );
    expect(await removeExpired(at(), testTime + 1, 700)).toEqual(new Map([[topicId, 700]]));
    expect(await removeExpired(at(), testTime + 1, 700)).toEqual(new Map([[topicId, 400]]));
    expect((await at().topicStats([topicId])).get(topicId)?.messageCount).toBe(100);
  });
}

function describeTopics(at: () => Messages): void {
  test('removes a topic with its records in batches, without affecting others', async () => {
    const [gone, kept] = [newId(), newId()];
    const first = testMessage(gone);
    await at().apply(
      Array.from({ length: 6 }, (_, index) =>
        published(index, index === 0 ? first : testMessage(index % 2 ? kept : gone)),
      ),
    );
    await at().apply([edited(7, first, { message: 'x' })]);
    expect(await at().removeTopic(gone, 2)).toBe(2);
    expect(await at().removeTopic(gone, 2)).toBe(1);
    expect(await at().removeTopic(gone, 2)).toBe(0);
    expect(await at().records(gone, { from: 0, upTo: 99, limit: 10, now: testTime })).toEqual([]);
    expect((await at().topicStats([gone])).get(gone)).toEqual({ messageCount: 0, lastMessageAt: null });
    expect((await at().newest(kept, { limit: 10, now: testTime })).map(({ offset }) => offset)).toEqual([1, 3, 5]);
    expect((await at().topicStats([kept])).get(kept)?.messageCount).toBe(3);
  });

  test('an empty topic has nothing to remove', async () => {
    expect(await at().removeTopic(newId(), 10)).toBe(0);
  });
}

function describeEmptying(at: () => Messages): void {
  const long = { expiresAt: testTime + 90 * day };

  test('redacts old deleted messages, oldest first, up to the limit', async () => {
    const topicId = newId();
    const gone = Array.from({ length: 5 }, (_, index) =>
      testMessage(topicId, { ...long, message: `text ${index}`, title: 'Title', tags: ['a'] }),
    );
    const kept = testMessage(topicId, long);
    const deletions = gone.map((message, index) => deleted(10 + index, message, testTime + 1_000 * (5 - index)));
    await at().apply([...gone.map((message, index) => published(index, message)), published(5, kept), ...deletions]);
    const texts = async () => Promise.all(gone.map(async ({ id }) => (await at().find(id))!.message));
    expect(await at().redactDeleted(testTime + 4_000, 2)).toBe(2);
    expect(await texts()).toEqual(['text 0', 'text 1', 'text 2', '', '']);
    expect(await at().redactDeleted(testTime + 4_000, 10)).toBe(2);
    expect(await at().redactDeleted(testTime + 4_000, 10)).toBe(0);
    expect(await texts()).toEqual(['text 0', '', '', '', '']);
    expect(await at().find(gone[4]!.id)).toEqual({ ...redacted(gone[4]!, testTime + 1_000), offset: 4 });
    expect(await at().find(kept.id)).toEqual({ ...kept, offset: 5 });
    expect((await at().topicStats([topicId])).get(topicId)?.messageCount).toBe(1);
    expect(await at().records(topicId, { from: 0, upTo: 99, limit: 20, now: testTime })).toHaveLength(11);
  });

  test('neither a late edit nor a replay restores redacted content', async () => {
    const message = testMessage(newId(), long);
    const records = [
      published(0, message),
      edited(1, message, { message: 'edited' }),
      deleted(2, message),
      edited(3, message, { message: 'late' }),
    ];
    await at().apply([records[0]!, records[2]!]);
    expect(await at().redactDeleted(testTime + day, 10)).toBe(1);
    await at().apply(records);
    await at().reconcile(0, records);
    expect((await at().find(message.id))?.message).toBe('');
    expect(await at().redactDeleted(testTime + day, 10)).toBe(0);
  });

  test('a message that arrives after its redacted deletion stays redacted', async () => {
    const message = testMessage(newId(), long);
    await at().apply([deleted(1, message)]);
    await at().redactDeleted(testTime + day, 10);
    await at().apply([published(0, message)]);
    expect((await at().find(message.id))?.message).toBe('');
  });

  test('keeps content of a held topic without blocking other topics', async () => {
    const [held, other] = [testMessage(newId(), long), testMessage(newId(), long)];
    await at().apply([
      published(0, held),
      published(1, other),
      deleted(2, held),
      deleted(3, other, testTime + 130_000),
    ]);
    expect(await at().redactDeleted(testTime + day, 1, [held.topicId, newId()])).toBe(1);
    expect([(await at().find(held.id))?.message, (await at().find(other.id))?.message]).toEqual([held.message, '']);
  });

  test('redacts many messages in one call', async () => {
    const topicId = newId();
    const gone = Array.from({ length: 1_100 }, () => testMessage(topicId, long));
    await at().apply([
      ...gone.map((message, index) => published(index, message)),
      ...gone.map((message, index) => deleted(2_000 + index, message)),
    ]);
    expect(await at().redactDeleted(testTime + day, 700)).toBe(700);
    expect(await at().redactDeleted(testTime + day, 700)).toBe(400);
  });
}

function describePlanning(at: () => Messages): void {
  const byTopic = (volumes: readonly (MessageVolume & { topicId: string })[]) =>
    new Map(volumes.map(({ topicId, ...volume }) => [topicId, volume]));

  test('the reported expired volume equals the removed one, in messages and bytes', async () => {
    const [one, other, none] = [newId(), newId(), newId()];
    const expired = { expiresAt: testTime + 1 };
    const [short, titled, wasEdited, wasDeleted] = [
      testMessage(one, { ...expired, message: 'ü'.repeat(3) }),
      testMessage(other, { ...expired, message: '😀', title: 'né' }),
      testMessage(one, expired),
      testMessage(one, expired),
    ];
    await at().apply([
      published(0, short),
      published(1, titled),
      published(2, wasEdited),
      published(3, wasDeleted),
      published(4, testMessage(none)),
      published(5, testMessage(one, { expiresAt: testTime + 2 })),
      edited(6, wasEdited, { message: 'abc', title: null }),
      deleted(7, wasDeleted),
    ]);
    const planned = byTopic(await at().expired(testTime + 1));
    expect(planned).toEqual(
      new Map([
        [one, { messages: 3, bytes: 6 + 3 + Buffer.byteLength(wasDeleted.message) }],
        [other, { messages: 1, bytes: 4 + 3 }],
      ]),
    );
    expect(await at().removeExpired(testTime + 1, 100)).toEqual(planned);
    expect(await at().expired(testTime + 1)).toEqual([]);
  });

  test('finds thousands of messages that expire in the same moment', async () => {
    const [one, other] = [newId(), newId()];
    const all = Array.from({ length: 6_500 }, (_, index) =>
      published(
        index,
        testMessage(index % 5 === 0 ? other : one, { expiresAt: testTime + (index < 6_000 ? 1 : 1 + (index % 3)) }),
      ),
    );
    await at().apply(all);
    const count = (topicId: string, time: number) =>
      all.filter(({ record: { message } }) => message.topicId === topicId && message.expiresAt <= time).length;
    for (const time of [testTime + 1, testTime + 2]) {
      const found = byTopic(await at().expired(time));
      expect([found.get(one)?.messages, found.get(other)?.messages]).toEqual([count(one, time), count(other, time)]);
      expect(found.get(one)?.bytes).toBe(count(one, time) * Buffer.byteLength(testMessage(one).message));
    }
  });

  test('reports expired messages without held topics, even after earlier removals', async () => {
    const [one, held] = [newId(), newId()];
    const expired = (topicId: string, after: number) => testMessage(topicId, { expiresAt: testTime + after });
    await at().apply([
      published(0, expired(held, 1)),
      published(1, expired(one, 2)),
      published(2, expired(held, 2)),
      published(3, expired(one, 3)),
    ]);
    const counts = async (except?: readonly string[]) =>
      [...byTopic(await at().expired(testTime + 3, except))].map(([topicId, { messages }]) => [topicId, messages]);
    expect(await counts([held, newId()])).toEqual([[one, 2]]);
    await at().removeExpired(testTime + 3, 1, [held]);
    expect(await counts([held])).toEqual([[one, 1]]);
    expect(new Map((await counts()) as [string, number][])).toEqual(
      new Map([
        [held, 2],
        [one, 1],
      ]),
    );
    await at().removeExpired(testTime + 3, 10, [held]);
    expect(await counts([held])).toEqual([]);
    await at().apply([published(4, expired(one, 1))]);
    expect(await counts([held])).toEqual([[one, 1]]);
    expect(await counts([one])).toEqual([[held, 2]]);
  });

  test('counts expired messages up to a limit, without held topics', async () => {
    const [one, held] = [newId(), newId()];
    await at().apply(
      Array.from({ length: 10 }, (_, index) =>
        published(index, testMessage(index < 4 ? held : one, { expiresAt: testTime + 1 + index })),
      ),
    );
    expect(await at().countExpired(testTime + 100, { max: 100 })).toBe(10);
    expect(await at().countExpired(testTime + 9, { max: 100, except: [held, newId()] })).toBe(5);
    expect(await at().countExpired(testTime + 100, { max: 3, except: [held] })).toBe(3);
    expect(await at().countExpired(testTime, { max: 3 })).toBe(0);
  });

  test('the oldest kept message is the first one that stays in history', async () => {
    const [one, gone, none] = [newId(), newId(), newId()];
    const at5 = { timestamp: testTime + 5 };
    const wasDeleted = testMessage(one, { timestamp: testTime + 1 });
    await at().apply([
      published(0, testMessage(one, { expiresAt: testTime + 1_000 })),
      published(1, wasDeleted),
      published(2, testMessage(one, at5)),
      published(3, testMessage(one, { timestamp: testTime + 6 })),
      published(4, testMessage(gone, { expiresAt: testTime + 1_000 })),
      deleted(5, wasDeleted),
    ]);
    expect(await at().oldestKept([one, gone, none], testTime + 1_000)).toEqual(new Map([[one, testTime + 5]]));
    expect(await at().oldestKept([one, gone, none], testTime + 999)).toEqual(
      new Map([
        [one, testTime],
        [gone, testTime],
      ]),
    );
    expect(await at().oldestKept([], testTime)).toEqual(new Map());
  });
}
