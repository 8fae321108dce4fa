import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { redacted, type StoredMessage } from '../../domain/messages/message.ts';
import { deletedContentMs, type MessageFilter } from '../../domain/messages/message-filter.ts';
import { MessagesModel } from './messages-model.ts';
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
import { anyMessage, filterOf, recordsOfDrafts, searches } from './messages-search.fixtures.ts';
import type { Messages } from '../../ports/messages/messages.ts';

const now = testTime;
const hour = 3_600_000;

/** Search, recent messages and activity. */
export function describeMessageSearch(fixture: MessagesFixture): void {
  describeText(fixture);
  describeFilters(fixture);
  describePages(fixture);
  describeDeletedContent(fixture);
  describeActivity(fixture);
  const runs = Number(process.env['MODEL_RUNS'] ?? 150);
  test('any search of any messages matches the model', async () => {
    let offset = 2_000_000;
    await fc.assert(
      fc.asyncProperty(searches, async ({ drafts, asked, limit }) => {
        const topicIds = [newId(), newId(), newId()];
        const records = recordsOfDrafts(drafts, topicIds, offset);
        offset += 100;
        await fixture.messages().apply(records);
        const model = new MessagesModel(records);
        for (const filter of asked.map((one) => filterOf(one, records, topicIds)))
          await compare(fixture.messages(), model, { filter, limit });
      }),
      { numRuns: runs, endOnFailure: false },
    );
  }, 300_000);
}

async function compare(
  messages: Messages,
  model: MessagesModel,
  { filter, limit }: { filter: MessageFilter; limit: number },
): Promise<void> {
  const expected = model.matching(filter);
  expect(await allPages(messages, filter, limit)).toEqual(expected);
  expect(await messages.search(filter, { limit: 100, offset: 0 })).toEqual({
    messages: expected,
    total: expected.length,
  });
  const counts = await messages.activity(filter, hour);
  expect(new Map(counts.map(({ start, priority, count }) => [`${start} ${priority}`, count]))).toEqual(
    model.activity(filter, hour),
  );
  const { topicIds } = filter;
  expect(await messages.recent(topicIds, { limit, now: filter.now })).toEqual(
    model.matching(anyMessage(topicIds, { now: filter.now })).slice(0, limit),
  );
}

/** Reads pages until one is not full; each reports the same total. */
async function allPages(messages: Messages, filter: MessageFilter, limit: number): Promise<StoredMessage[]> {
  const all: StoredMessage[] = [];
  for (let offset = 0; ; offset += limit) {
    const page = await messages.search(filter, { limit, offset });
    all.push(...page.messages);
    if (page.messages.length < limit) {
      expect(page.total).toBe(all.length);
      return all;
    }
  }
}

const ids = (found: { readonly messages: readonly StoredMessage[] }) => found.messages.map(({ id }) => id);
const texts = (found: { readonly messages: readonly StoredMessage[] }) =>
  found.messages.map(({ message }) => message).sort();

function describeText({ messages, freeOffset }: MessagesFixture): void {
  /** Stores a message per text; resolves with the matching ones. */
  const searcher = async (...stored: readonly string[]) => {
    const [offset, topicId] = [freeOffset(), newId()];
    await messages().apply(
      stored.map((message, index) => published(offset + index, testMessage(topicId, { message }))),
    );
    return async (text: string) =>
      texts(await messages().search(anyMessage([topicId], { text }), { limit: 50, offset: 0 }));
  };

  test('finds a text anywhere in title and text, case-insensitive', async () => {
    const [offset, topicId] = [freeOffset(), newId()];
    const inText = testMessage(topicId, { message: 'The DISK is full' });
    const inTitle = testMessage(topicId, { message: 'no', title: 'diskette' });
    await messages().apply([
      published(offset, inText),
      published(offset + 1, inTitle),
      published(offset + 2, testMessage(topicId, { message: 'dis', title: 'k' })),
    ]);
    for (const text of ['disk', 'DISK', 'isK']) {
      expect(ids(await messages().search(anyMessage([topicId], { text }), { limit: 50, offset: 0 }))).toEqual([
        inTitle.id,
        inText.id,
      ]);
    }
  });

  test('applies full Unicode case folding and nothing else', async () => {
    const find = await searcher(
      'Straße',
      'STRASSE',
      'ΣΊΣΥΦΟΣ',
      'σίσυφος',
      'K',
      '\u212a',
      'İ',
      'ı',
      'I',
      'cafe\u0301',
      'café',
      'ﬁn',
      'ЖУК',
    );
    expect(await find('strasse')).toEqual(['STRASSE', 'Straße']);
    expect(await find('STRAẞE')).toEqual(['STRASSE', 'Straße']);
    expect(await find('σίσυφοσ')).toEqual(['ΣΊΣΥΦΟΣ', 'σίσυφος']);
    expect(await find('k')).toEqual(['K', '\u212a']);
    expect(await find('ı')).toEqual(['ı']);
    expect(await find('i\u0307')).toEqual(['İ']);
    expect(await find('CAFÉ')).toEqual(['café']);
    expect(await find('FIN')).toEqual(['ﬁn']);
    expect(await find('жук')).toEqual(['ЖУК']);
  });

  test('treats pattern characters literally', async () => {
    const find = await searcher(
      '100%',
      '100 of',
      'a_b',
      'aXb',
      'back\\slash',
      '(a+)+$',
      'aaaa',
      '[x]',
      '.*',
      '$1 ^|?{}',
      'it\'s "so"',
      '\\E',
    );
    expect(await find('0%')).toEqual(['100%']);
    expect(await find('_')).toEqual(['a_b']);
    expect(await find('\\')).toEqual(['\\E', 'back\\slash']);
    expect(await find('\\e')).toEqual(['\\E']);
    expect(await find('(a+)+$')).toEqual(['(a+)+$']);
    expect(await find('.*')).toEqual(['.*']);
    expect(await find('[x]')).toEqual(['[x]']);
    expect(await find('$1 ^|?{}')).toEqual(['$1 ^|?{}']);
    expect(await find('\'s "so"')).toEqual(['it\'s "so"']);
  });

  test('treats NUL like any character', async () => {
    const find = await searcher('before\0after', 'after', '\0');
    expect(await find('AFTER')).toEqual(['after', 'before\0after']);
    expect(await find('e\0a')).toEqual(['before\0after']);
    expect(await find('\0')).toEqual(['\0', 'before\0after']);
  });

  test('finds a long text in a long message', async () => {
    const find = await searcher(`${'😀'.repeat(3_000)}${'Ä'.repeat(200)}`, `${'a'.repeat(3_999)}B`, 'short');
    expect(await find('ä'.repeat(200))).toHaveLength(1);
    expect(await find(`${'A'.repeat(199)}b`)).toHaveLength(1);
    expect(await find('ä'.repeat(201))).toEqual([]);
  });

  test('finds an edited message by its current text only', async () => {
    const [offset, topicId] = [freeOffset(), newId()];
    const [plain, folded] = [testMessage(topicId, { message: 'first' }), testMessage(topicId, { message: 'ÄRSTE' })];
    await messages().apply([published(offset, plain), published(offset + 1, folded)]);
    await messages().apply([
      edited(offset + 2, plain, { message: 'ZWÖLF' }),
      edited(offset + 3, folded, { message: 'twelve' }),
    ]);
    const find = async (text: string) =>
      ids(await messages().search(anyMessage([topicId], { text }), { limit: 50, offset: 0 }));
    expect(await find('first')).toEqual([]);
    expect(await find('ärste')).toEqual([]);
    expect(await find('zwölf')).toEqual([plain.id]);
    expect(await find('TWELVE')).toEqual([folded.id]);
  });
}

function describeFilters({ messages, freeOffset }: MessagesFixture): void {
  test('combines exact tags, priorities and inclusive time bounds', async () => {
    const [offset, topicId, other] = [freeOffset(), newId(), newId()];
    const drafts = [
      testMessage(topicId, { priority: 1, tags: ['a', 'b'], timestamp: now }),
      testMessage(topicId, { priority: 3, tags: ['b'], timestamp: now + hour }),
      testMessage(topicId, { priority: 5, tags: ['B', 'x"y'], timestamp: now + 2 * hour }),
      testMessage(topicId, { priority: 5, timestamp: now + 3 * hour }),
    ];
    await messages().apply([
      ...drafts.map((message, index) => published(offset + index, message)),
      published(offset + 9, testMessage(other, { tags: ['a'] })),
    ]);
    const find = async (given: Partial<MessageFilter>) => {
      const found = await messages().search(anyMessage([topicId], given), { limit: 50, offset: 0 });
      expect(found.total).toBe(found.messages.length);
      return ids(found)
        .map((id) => drafts.findIndex((one) => one.id === id))
        .sort();
    };
    expect(await find({})).toEqual([0, 1, 2, 3]);
    expect(await find({ tags: ['a', 'B'] })).toEqual([0, 2]);
    expect(await find({ tags: ['x"y'] })).toEqual([2]);
    expect(await find({ tags: ['y', 'x', 'ab', ''] })).toEqual([]);
    expect(await find({ priorityMin: 3 })).toEqual([1, 2, 3]);
    expect(await find({ priorityMin: 2, priorityMax: 3 })).toEqual([1]);
    expect(await find({ from: now + hour, to: now + 2 * hour })).toEqual([1, 2]);
    expect(await find({ from: now + hour + 1 })).toEqual([2, 3]);
    expect(await find({ to: now - 1 })).toEqual([]);
    expect(await find({ tags: ['b'], priorityMax: 2, text: 'DISK', to: now })).toEqual([0]);
  });

  test('returns nothing without topics, and for an empty topic', async () => {
    for (const topicIds of [[], [newId()], [newId(), newId()]]) {
      for (const text of [null, 'x']) {
        expect(await messages().search(anyMessage(topicIds, { text }), { limit: 5, offset: 0 })).toEqual({
          messages: [],
          total: 0,
        });
      }
      expect(await messages().recent(topicIds, { limit: 5, now })).toEqual([]);
      expect(await messages().activity(anyMessage(topicIds), hour)).toEqual([]);
    }
  });

  test('finds and counts a message until the millisecond of its expiry', async () => {
    const [offset, topicId] = [freeOffset(), newId()];
    const short = testMessage(topicId, { expiresAt: now + hour });
    const long = testMessage(topicId);
    await messages().apply([published(offset, short), published(offset + 1, long)]);
    for (const given of [{}, { text: 'disk' }, { priorityMin: 1 }, { includesDeleted: true }]) {
      const at = async (time: number) =>
        messages().search(anyMessage([topicId], { ...given, now: time }), { limit: 5, offset: 0 });
      expect((await at(now + hour - 1)).total).toBe(2);
      expect(await at(now + hour)).toEqual({ messages: [{ ...long, offset: offset + 1 }], total: 1 });
    }
    expect(await messages().recent([topicId], { limit: 5, now: now + hour })).toHaveLength(1);
  });
}

function describePages({ messages, freeOffset }: MessagesFixture): void {
  test('pages of one topic and of many have no gaps or duplicates, newest first', async () => {
    const [offset, one, other] = [freeOffset(), newId(), newId()];
    const drafts = Array.from({ length: 23 }, (_, index) =>
      testMessage(index % 3 ? one : other, {
        timestamp: now + 10 * index,
        message: `${index} ${index % 2 ? 'odd' : 'EVEN'}`,
      }),
    );
    await messages().apply(drafts.map((message, index) => published(offset + index, message)));
    for (const topicIds of [[one], [one, other]]) {
      for (const text of [null, 'even']) {
        const expected = drafts
          .filter(({ topicId, message }) => topicIds.includes(topicId) && (text === null || message.includes('EVEN')))
          .reverse();
        expect((await allPages(messages(), anyMessage(topicIds, { text }), 4)).map(({ id }) => id)).toEqual(
          expected.map(({ id }) => id),
        );
        expect(await messages().search(anyMessage(topicIds, { text }), { limit: 10, offset: 1_000 })).toEqual({
          messages: [],
          total: expected.length,
        });
      }
      const newest = drafts
        .filter(({ topicId }) => topicIds.includes(topicId))
        .reverse()
        .slice(0, 5);
      expect((await messages().recent(topicIds, { limit: 5, now })).map(({ id }) => id)).toEqual(
        newest.map(({ id }) => id),
      );
    }
  });

  test('pages of a period in a long topic are complete, even with clock skew', async () => {
    const [offset, topicId] = [freeOffset(), newId()];
    const timeOf = (at: number) => now + at * 1_000 + (at % 9 === 0 ? -8_500 : 0);
    const drafts = Array.from({ length: 120 }, (_, at) =>
      testMessage(topicId, { timestamp: timeOf(at), message: at % 2 ? 'odd' : 'even' }),
    );
    await messages().apply(drafts.map((message, index) => published(offset + index, message)));
    for (const [from, to] of [
      [27.5, 60],
      [28, 28],
      [null, 40],
      [80, null],
      [53.5, 53.9],
      [-20, 0],
      [300, null],
      [null, -300],
    ] as const) {
      const times = { from: from === null ? null : now + from * 1_000, to: to === null ? null : now + to * 1_000 };
      for (const text of [null, 'EVEN']) {
        const isAsked = ({ timestamp, message }: { timestamp: number; message: string }) =>
          timestamp >= (times.from ?? -Infinity) &&
          timestamp <= (times.to ?? Infinity) &&
          (text === null || message === 'even');
        const expected = drafts
          .filter(isAsked)
          .reverse()
          .map(({ id }) => id);
        expect((await allPages(messages(), anyMessage([topicId], { ...times, text }), 25)).map(({ id }) => id)).toEqual(
          expected,
        );
      }
    }
  });

  test('a page of very many topics considers all of them', async () => {
    const offset = freeOffset();
    const topicIds = Array.from({ length: 250 }, () => newId());
    const drafts = Array.from({ length: 600 }, (_, index) =>
      testMessage(topicIds[(index * 7) % 250]!, { timestamp: now + index }),
    );
    await messages().apply(drafts.map((message, index) => published(offset + index, message)));
    const newestFirst = drafts.map(({ id }) => id).reverse();
    const page = async (at: number) => messages().search(anyMessage(topicIds), { limit: 50, offset: at });
    expect(ids(await page(0))).toEqual(newestFirst.slice(0, 50));
    expect(ids(await page(310))).toEqual(newestFirst.slice(310, 360));
    expect(await page(580)).toMatchObject({ total: 600, messages: { length: 20 } });
    expect((await messages().recent(topicIds, { limit: 200, now })).map(({ id }) => id)).toEqual(
      newestFirst.slice(0, 200),
    );
  });
}

function describeDeletedContent({ messages, freeOffset }: MessagesFixture): void {
  test('returns deleted messages only on request, with their content for 30 days', async () => {
    const [offset, topicId] = [freeOffset(), newId()];
    const gone = testMessage(topicId, { message: 'gone', title: 'Title', tags: ['a'], expiresAt: now + 90 * day });
    const kept = testMessage(topicId, { message: 'kept', expiresAt: now + 90 * day });
    const deletedAt = now + 5;
    await messages().apply([
      published(offset, gone),
      published(offset + 1, kept),
      deleted(offset + 2, gone, deletedAt),
    ]);
    const find = (given: Partial<MessageFilter>) =>
      messages().search(anyMessage([topicId], given), { limit: 5, offset: 0 });
    expect(await find({})).toEqual({ messages: [{ ...kept, offset: offset + 1 }], total: 1 });
    expect((await find({ text: 'gone' })).total).toBe(0);
    const whole = { ...gone, offset, isDeleted: true, deletedAt };
    const last = { includesDeleted: true, now: deletedAt + deletedContentMs - 1 };
    expect(await find(last)).toEqual({ messages: [{ ...kept, offset: offset + 1 }, whole], total: 2 });
    for (const given of [{ text: 'gone' }, { tags: ['a'] }])
      expect(await find({ ...last, ...given })).toEqual({ messages: [whole], total: 1 });
    const after = { includesDeleted: true, now: deletedAt + deletedContentMs };
    expect(await find(after)).toEqual({
      messages: [{ ...kept, offset: offset + 1 }, redacted(whole, deletedAt)],
      total: 2,
    });
    for (const given of [{ text: 'gone' }, { tags: ['a'] }]) expect((await find({ ...after, ...given })).total).toBe(0);
  });
}

function describeActivity({ messages, freeOffset }: MessagesFixture): void {
  test('counts messages by bucket and priority', async () => {
    const [offset, one, other] = [freeOffset(), newId(), newId()];
    const start = Math.floor(now / day) * day;
    const at = (ms: number, priority: 1 | 5, topicId = one) =>
      testMessage(topicId, { timestamp: start + ms, priority, expiresAt: now + 30 * day });
    const gone = at(0, 5);
    const drafts = [at(0, 1), at(hour - 1, 1), at(hour - 1, 5), at(hour, 1), at(day, 5, other), gone];
    await messages().apply([
      ...drafts.map((message, index) => published(offset + index, message)),
      deleted(offset + 9, gone),
    ]);
    const count = async (bucketMs: number, given: Partial<MessageFilter> = {}) =>
      (await messages().activity(anyMessage([one, other], given), bucketMs))
        .map(({ start: from, priority, count: found }) => [from - start, priority, found])
        .sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
    expect(await count(hour)).toEqual([
      [0, 1, 2],
      [0, 5, 1],
      [hour, 1, 1],
      [day, 5, 1],
    ]);
    expect(await count(day)).toEqual([
      [0, 1, 3],
      [0, 5, 1],
      [day, 5, 1],
    ]);
    expect(await count(day, { from: start + 1, to: start + hour })).toEqual([
      [0, 1, 2],
      [0, 5, 1],
    ]);
    expect(await count(hour, { priorityMin: 5, text: 'DISK', topicIds: [one] })).toEqual([[0, 5, 1]]);
  });
}
