import { expect, test } from '@jest/globals';
import { deleted, edited, newId, published, testMessage, testTime, type MessagesFixture } from './messages.fixtures.ts';

const now = testTime;
const minute = 60_000;

/** The reads of a topic by offset and by time. */
export function describeMessageReads(fixture: MessagesFixture): void {
  describeHistory(fixture);
  describeRecords(fixture);
  describePositions(fixture);
  describeStats(fixture);
}

function describeHistory({ messages, freeOffset }: MessagesFixture): void {
  /** Ten messages of one topic at every third offset, with those of another topic in between. */
  const tenMessages = async () => {
    const offset = freeOffset();
    const [topicId, other] = [newId(), newId()];
    const own = Array.from({ length: 10 }, (_, index) =>
      published(offset + 3 * index, testMessage(topicId, { message: `${index}` })),
    );
    const others = own.map((one) => published(one.offset + 1, testMessage(other)));
    await messages().apply([...own, ...others]);
    return { topicId, offset, offsets: own.map((one) => one.offset) };
  };
  const offsetsOf = (list: readonly { offset: number }[]) => list.map((one) => one.offset);

  test('returns the newest messages, oldest first', async () => {
    const { topicId, offsets } = await tenMessages();
    expect(offsetsOf(await messages().newest(topicId, { limit: 4, now }))).toEqual(offsets.slice(-4));
    expect(offsetsOf(await messages().newest(topicId, { limit: 50, now }))).toEqual(offsets);
  });

  test('finds the newest message and the last offset of many topics in one call', async () => {
    const [one, two] = [await tenMessages(), await tenMessages()];
    const empty = newId();
    const topicIds = [one.topicId, empty, two.topicId];
    const newest = await messages().newestOfEach(topicIds, now);
    expect([...newest].map(([topicId, message]) => [topicId, message.topicId, message.offset]).sort()).toEqual(
      [one, two].map(({ topicId, offsets }) => [topicId, topicId, offsets.at(-1)!]).sort(),
    );
    expect(await messages().lastOffsets(topicIds)).toEqual(
      new Map([
        [one.topicId, one.offsets.at(-1)!],
        [empty, -1],
        [two.topicId, two.offsets.at(-1)!],
      ]),
    );
    expect([await messages().newestOfEach([], now), await messages().lastOffsets([])]).toEqual([new Map(), new Map()]);
  });

  test('the newest message of a topic is the newest in its history', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const [kept, short, gone] = [
      testMessage(topicId),
      testMessage(topicId, { expiresAt: now + minute }),
      testMessage(topicId),
    ];
    await messages().apply([
      published(offset, kept),
      published(offset + 1, short),
      published(offset + 2, gone),
      deleted(offset + 3, gone),
    ]);
    const newestAt = async (time: number) => (await messages().newestOfEach([topicId], time)).get(topicId)?.id;
    expect([await newestAt(now), await newestAt(now + minute)]).toEqual([short.id, kept.id]);
  });

  test('finds many messages in one call, including expired and deleted ones, and omits unknown IDs', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const [plain, short, gone] = [
      testMessage(topicId),
      testMessage(topicId, { expiresAt: now + 1 }),
      testMessage(newId()),
    ];
    await messages().apply([
      published(offset, plain),
      published(offset + 1, short),
      published(offset + 2, gone),
      deleted(offset + 3, gone),
    ]);
    const found = await messages().findMany([gone.id, newId(), short.id, plain.id]);
    expect(found.sort((a, b) => a.offset - b.offset)).toEqual(
      await Promise.all([plain, short, gone].map(({ id }) => messages().find(id))),
    );
    expect(await messages().findMany([])).toEqual([]);
  });

  test('returns messages after an offset up to and including another one, oldest first', async () => {
    const { topicId, offsets } = await tenMessages();
    const read = async (after: number, upTo: number, limit = 50) =>
      offsetsOf(await messages().after(topicId, { after, upTo, limit, now }));
    expect(await read(offsets[2]!, offsets[5]!)).toEqual(offsets.slice(3, 6));
    expect(await read(offsets[2]! - 1, offsets[5]! - 1)).toEqual(offsets.slice(2, 5));
    expect(await read(-1, Number.MAX_SAFE_INTEGER)).toEqual(offsets);
    expect(await read(-1, Number.MAX_SAFE_INTEGER, 3)).toEqual(offsets.slice(0, 3));
    expect(await read(offsets.at(-1)!, Number.MAX_SAFE_INTEGER)).toEqual([]);
    expect(await read(offsets[5]!, offsets[2]!)).toEqual([]);
  });

  test('an expired message is missing in every read except find, from the millisecond of its expiry', async () => {
    const { topicId, offset } = await tenMessages();
    const short = testMessage(topicId, { expiresAt: now + minute });
    const at = offset + 100;
    await messages().apply([published(at, short), edited(at + 1, short, { message: 'edited' })]);
    const range = { upTo: at + 9, limit: 50 };
    const shownAt = async (time: number) => ({
      newest: (await messages().newest(topicId, { limit: 50, now: time })).some(({ id }) => id === short.id),
      after: (await messages().after(topicId, { after: offset, ...range, now: time })).some(
        ({ id }) => id === short.id,
      ),
      records: (await messages().records(topicId, { from: offset, ...range, now: time })).filter(
        ({ message }) => message.id === short.id,
      ).length,
    });
    expect(await shownAt(now + minute - 1)).toEqual({ newest: true, after: true, records: 2 });
    expect(await shownAt(now + minute)).toEqual({ newest: false, after: false, records: 0 });
    expect((await messages().find(short.id))?.message).toBe('edited');
  });

  test('fills pages despite expired or deleted messages', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const drafts = Array.from({ length: 9 }, (_, index) =>
      testMessage(topicId, index % 3 === 1 ? { expiresAt: now + minute } : {}),
    );
    await messages().apply(drafts.map((message, index) => published(offset + index, message)));
    await messages().apply(
      drafts.flatMap((message, index) => (index % 3 === 2 ? [deleted(offset + 20 + index, message)] : [])),
    );
    const later = now + minute;
    expect(offsetsOf(await messages().newest(topicId, { limit: 2, now: later }))).toEqual([offset + 3, offset + 6]);
    expect(
      offsetsOf(await messages().after(topicId, { after: offset, upTo: offset + 50, limit: 2, now: later })),
    ).toEqual([offset + 3, offset + 6]);
  });

  test('a topic without messages is empty in every read', async () => {
    const topicId = newId();
    expect(await messages().newest(topicId, { limit: 5, now })).toEqual([]);
    expect(await messages().after(topicId, { after: -1, upTo: 1e9, limit: 5, now })).toEqual([]);
    expect(await messages().records(topicId, { from: 0, upTo: 1e9, limit: 5, now })).toEqual([]);
    expect(await messages().offsetAtTime(topicId, 0)).toBeNull();
    expect(await messages().lastOffsets([topicId])).toEqual(new Map([[topicId, -1]]));
    expect(await messages().newestOfEach([topicId], now)).toEqual(new Map());
  });
}

function describeRecords({ messages, freeOffset }: MessagesFixture): void {
  test('edits and deletions are records at their own offsets and contain the current message', async () => {
    const offset = freeOffset();
    const message = testMessage(newId());
    const edit = edited(offset + 4, message, { message: 'edited', editedAt: now + 7 });
    await messages().apply([published(offset, message), edit]);
    const shown = { ...edit.record.message, offset };
    expect(await messages().records(message.topicId, { from: 0, upTo: offset + 9, limit: 10, now })).toEqual([
      { offset, type: 'message', timestamp: message.timestamp, message: shown },
      { offset: offset + 4, type: 'message_edited', timestamp: now + 7, message: shown },
    ]);
  });

  test('pages of records have no gaps or duplicates', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const drafts = Array.from({ length: 12 }, () => testMessage(topicId));
    const changes = drafts.flatMap((message, index) =>
      index % 2
        ? [edited(offset + 2 * index + 1, message, { message: 'x' })]
        : [deleted(offset + 2 * index + 1, message)],
    );
    await messages().apply([...drafts.map((message, index) => published(offset + 2 * index, message)), ...changes]);
    const read: number[] = [];
    for (let from = offset; ; from = read.at(-1)! + 1) {
      const page = await messages().records(topicId, { from, upTo: offset + 21, limit: 5, now });
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(5);
      read.push(...page.map((one) => one.offset));
    }
    expect(read).toEqual(Array.from({ length: 22 }, (_, index) => offset + index));
  });
}

function describePositions({ messages, freeOffset }: MessagesFixture): void {
  test('the offset at a time is that of the first record at or after it, of any type', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const drafts = [0, 1, 2, 3].map((index) => testMessage(topicId, { timestamp: now + index * minute }));
    await messages().apply(drafts.map((message, index) => published(offset + index, message)));
    await messages().apply([deleted(offset + 9, drafts[0]!, now + 10 * minute)]);
    const at = (time: number) => messages().offsetAtTime(topicId, time);
    expect(await at(0)).toBe(offset);
    expect(await at(now)).toBe(offset);
    expect(await at(now + 1)).toBe(offset + 1);
    expect(await at(now + 3 * minute)).toBe(offset + 3);
    expect(await at(now + 3 * minute + 1)).toBe(offset + 9);
    expect(await at(now + 10 * minute + 1)).toBeNull();
  });

  test('the offset at a time is exact with a clock skew below ten seconds', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const times = [0, 9_000, 1_000, 4_000, 12_000, 3_500, 11_000, 60_000, 51_000, 52_000, 120_000].map(
      (ms) => now + ms,
    );
    await messages().apply(
      times.map((timestamp, index) => published(offset + 2 * index, testMessage(topicId, { timestamp }))),
    );
    for (const time of [...times, ...times.map((one) => one + 1), ...times.map((one) => one - 1)]) {
      const first = times.findIndex((one) => one >= time);
      expect([time, await messages().offsetAtTime(topicId, time)]).toEqual([
        time,
        first < 0 ? null : offset + 2 * first,
      ]);
    }
  });

  test('the last offset includes every type of record', async () => {
    const offset = freeOffset();
    const message = testMessage(newId());
    const lastOffset = async () => (await messages().lastOffsets([message.topicId])).get(message.topicId);
    await messages().apply([published(offset, message)]);
    expect(await lastOffset()).toBe(offset);
    await messages().apply([deleted(offset + 7, message)]);
    expect(await lastOffset()).toBe(offset + 7);
    await messages().apply([edited(offset + 3, message, { message: 'x' })]);
    expect(await lastOffset()).toBe(offset + 7);
  });
}

function describeStats({ messages, freeOffset }: MessagesFixture): void {
  test('topic counters match history, and every requested topic has an entry', async () => {
    const offset = freeOffset();
    const [busy, redactedTopic, unknown] = [newId(), newId(), newId()];
    const older = testMessage(busy, { timestamp: now + 1 });
    const newer = testMessage(busy, { timestamp: now + 5 });
    const only = testMessage(redactedTopic, { timestamp: now + 3 });
    await messages().apply([published(offset + 1, newer), published(offset, older), published(offset + 2, only)]);
    await messages().apply([
      edited(offset + 3, older, { message: 'x' }),
      deleted(offset + 4, only),
      deleted(offset + 5, only),
    ]);
    expect(await messages().topicStats([busy, redactedTopic, unknown])).toEqual(
      new Map([
        [busy, { messageCount: 2, lastMessageAt: now + 5 }],
        [redactedTopic, { messageCount: 0, lastMessageAt: now + 3 }],
        [unknown, { messageCount: 0, lastMessageAt: null }],
      ]),
    );
    expect(await messages().topicStats([])).toEqual(new Map());
  });

  test('counts visible messages after a time per mark', async () => {
    const offset = freeOffset();
    const [busy, quiet, unknown] = [newId(), newId(), newId()];
    const at = (topicId: string, ms: number, given = {}) => testMessage(topicId, { timestamp: now + ms, ...given });
    const [gone, changed, short] = [at(busy, 40), at(busy, 50), at(busy, 60, { expiresAt: now + minute })];
    const own = [at(busy, 10), at(busy, 30), at(busy, 20), gone, changed, short].map((message, index) =>
      published(offset + 2 * index, message),
    );
    await messages().apply([...own, published(offset + 1, at(quiet, 15))]);
    await messages().apply([deleted(offset + 20, gone), edited(offset + 21, changed, { message: 'x' })]);
    const count = (marks: [string, number][], time = now, max = 10_000) =>
      messages().countAfter(
        marks.map(([topicId, ms]) => ({ topicId, after: now + ms })),
        { max, now: time },
      );
    expect(
      await count([
        [busy, 0],
        [quiet, 0],
        [unknown, 0],
        [busy, 20],
        [busy, 9],
        [busy, 29],
        [busy, 59],
        [busy, 60],
      ]),
    ).toEqual([5, 1, 0, 3, 5, 3, 1, 0]);
    expect(
      await count(
        [
          [busy, 0],
          [busy, 50],
        ],
        now + minute,
      ),
    ).toEqual([4, 0]);
    expect(
      await count(
        [
          [busy, 0],
          [busy, 50],
        ],
        now,
        2,
      ),
    ).toEqual([2, 1]);
    expect(await count([])).toEqual([]);
  });

  test('returns the times of visible messages after a time per topic, newest first', async () => {
    const offset = freeOffset();
    const [busy, quiet, unknown] = [newId(), newId(), newId()];
    const at = (topicId: string, ms: number, given = {}) => testMessage(topicId, { timestamp: now + ms, ...given });
    const [gone, short] = [at(busy, 40), at(busy, 60, { expiresAt: now + minute })];
    const own = [at(busy, 10), at(busy, 30), at(busy, 20), gone, short].map((message, index) =>
      published(offset + 2 * index, message),
    );
    await messages().apply([...own, published(offset + 1, at(quiet, 15)), deleted(offset + 20, gone)]);
    const times = async (marks: [string, number][], time = now, max = 1_000) =>
      (
        await messages().timesAfter(
          marks.map(([topicId, ms]) => ({ topicId, after: now + ms })),
          { max, now: time },
        )
      ).map((found) => found.map((one) => one - now));
    const marks: [string, number][] = [
      [busy, 10],
      [unknown, 0],
      [quiet, 0],
    ];
    expect(await times(marks)).toEqual([[60, 30, 20], [], [15]]);
    expect(await times(marks, now + minute)).toEqual([[30, 20], [], [15]]);
    expect(await times([[busy, 60]])).toEqual([[]]);
    expect(await times([])).toEqual([]);
  });

  test('returns only the newest times of topics with many messages', async () => {
    const [first, second] = [newId(), newId()];
    for (const topicId of [first, second]) {
      const offset = freeOffset();
      const records = Array.from({ length: 700 }, (_, at) =>
        published(offset + at, testMessage(topicId, { timestamp: now + at * 1_000 })),
      );
      for (let start = 0; start < 700; start += 350) await messages().apply(records.slice(start, start + 350));
    }
    const marks = [first, second].map((topicId) => ({ topicId, after: now + 99_000 }));
    const newest = (count: number) => Array.from({ length: count }, (_, back) => now + (699 - back) * 1_000);
    expect(await messages().timesAfter(marks, { max: 1_000, now })).toEqual([newest(600), newest(600)]);
    expect(await messages().timesAfter(marks, { max: 20, now })).toEqual([newest(20), newest(20)]);
    expect(await messages().timesAfter(marks.slice(0, 1), { max: 20, now })).toEqual([newest(20)]);
  });

  test('counts the marks of many topics', async () => {
    const offset = freeOffset();
    const topics = Array.from({ length: 60 }, () => newId());
    const records = topics.flatMap((topicId, index) =>
      Array.from({ length: index % 4 }, (_, at) =>
        published(offset + 4 * index + at, testMessage(topicId, { timestamp: now + at })),
      ),
    );
    await messages().apply(records);
    const marks = topics.map((topicId) => ({ topicId, after: now - 1 }));
    expect(await messages().countAfter(marks, { max: 10, now })).toEqual(topics.map((_, index) => index % 4));
  });

  test('counts from a mark anywhere in a long topic, even with clock skew', async () => {
    const offset = freeOffset();
    const topicId = newId();
    const timeOf = (at: number) => now + at * 1_000 + (at % 9 === 0 ? -8_000 : 0);
    await messages().apply(
      Array.from({ length: 200 }, (_, at) => published(offset + at, testMessage(topicId, { timestamp: timeOf(at) }))),
    );
    const after = [0, 60, 130, 140, 190, 199].map((at) => now + at * 1_000);
    const expected = after.map(
      (time) => Array.from({ length: 200 }, (_, at) => timeOf(at)).filter((one) => one > time).length,
    );
    expect(
      await messages().countAfter(
        after.map((time) => ({ topicId, after: time })),
        { max: 10_000, now },
      ),
    ).toEqual(expected);
    expect(
      await messages().countAfter(
        after.map((time) => ({ topicId, after: time })),
        { max: 7, now },
      ),
    ).toEqual(expected.map((count) => Math.min(7, count)));
  });

  test('a repeated count reflects every write to its topic, and expiry', async () => {
    const offset = freeOffset();
    const [topicId, other] = [newId(), newId()];
    const at = (ms: number, given = {}) => testMessage(topicId, { timestamp: now + ms, ...given });
    const [first, short, moved] = [at(1), at(2, { expiresAt: now + minute }), at(3)];
    const mark = { topicId, after: now };
    const count = async (time = now, max = 10_000) =>
      (await messages().countAfter([mark, { topicId: other, after: now }], { max, now: time }))[0];
    expect(await count()).toBe(0);
    await messages().apply([published(offset, first)]);
    expect([await count(), await count()]).toEqual([1, 1]);
    await messages().apply([published(offset + 1, short)]);
    expect([await count(now, 1), await count(), await count(now + minute), await count()]).toEqual([1, 2, 1, 2]);
    await messages().apply([deleted(offset + 3, moved)]);
    await messages().apply([published(offset + 2, moved), published(offset + 4, at(4))]);
    expect(await count()).toBe(3);
    await messages().apply([deleted(offset + 5, first)]);
    expect(await count()).toBe(2);
    expect(await messages().removeTopic(topicId, 100)).toBe(4);
    expect(await count()).toBe(0);
  });
}
