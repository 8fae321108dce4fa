import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { allMessagesOf } from '../../../domain/messages/message-filter.ts';
import { closers } from '../../../platform/lifecycle.ts';
import { messagesContract } from '../../../contracts/messages/messages.contract.ts';
import {
  day,
  deleted,
  edited,
  newId,
  published,
  testMessage,
  testTime,
} from '../../../contracts/messages/messages.fixtures.ts';
import { migrate } from '../sqlite/migrations.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { messageMigrations } from './sqlite-message-schema.ts';
import { openSqliteMessages } from './sqlite-messages.ts';

const urlOf = (relative: string) => JSON.stringify(new URL(relative, import.meta.url).href);

messagesContract('SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-messages-'));
  const path = join(folder, 'tocsin.db');
  const own = closers();
  own.add(() => rmSync(folder, { recursive: true }));
  return {
    open: async (clock = Date.now) => {
      const file = new SqliteFile(path);
      own.add(() => file.close());
      migrate(file, messageMigrations);
      const messages = openSqliteMessages({ file, clock });
      own.add(() => messages.close());
      return messages;
    },
    childCode: `
      const { SqliteFile } = await import(${urlOf('../sqlite/sqlite-file.ts')});
      const { migrate } = await import(${urlOf('../sqlite/migrations.ts')});
      const { messageMigrations } = await import(${urlOf('./sqlite-message-schema.ts')});
      const { openSqliteMessages } = await import(${urlOf('./sqlite-messages.ts')});
      const file = new SqliteFile(${JSON.stringify(path)});
      migrate(file, messageMigrations);
      const messages = openSqliteMessages({ file, clock: Date.now });`,
    close: () => own.closeAll(),
  };
});

describe('SQLite: the messages as the table of the log', () => {
  let folder: string;
  let file: SqliteFile;
  let now: number;
  const openStore = () => openSqliteMessages({ file, clock: () => now });
  let store: ReturnType<typeof openStore>;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tocsin-messages-'));
    file = new SqliteFile(join(folder, 'tocsin.db'));
    migrate(file, messageMigrations);
    now = testTime;
    store = openStore();
  });
  afterEach(async () => {
    await store.close();
    file.close();
    rmSync(folder, { recursive: true });
  });

  test('reads the log in order over all topics, each record with the current state of its message', async () => {
    const [a, b] = [testMessage(newId()), testMessage(newId())];
    const edit = edited(2, a, { message: 'edited' });
    const deletion = deleted(4, b, now + 5);
    await file.write(() => store.applySync([published(0, a), published(1, b), edit, deletion]));
    const messageA = edit.record.message;
    const messageB = deletion.record.message;
    expect(store.readFrom(0, 10)).toEqual([
      { partition: 0, offset: 0, record: { type: 'message', timestamp: a.timestamp, message: messageA } },
      { partition: 0, offset: 1, record: { type: 'message', timestamp: b.timestamp, message: messageB } },
      {
        partition: 0,
        offset: 2,
        record: { type: 'message_edited', timestamp: edit.record.timestamp, message: messageA },
      },
      { partition: 0, offset: 4, record: { type: 'message_deleted', timestamp: now + 5, message: messageB } },
    ]);
    expect(store.readFrom(1, 2).map(({ offset }) => offset)).toEqual([1, 2]);
    expect(store.readFrom(5, 2)).toEqual([]);
  });

  test('corrects a wrong count', async () => {
    const topicId = newId();
    await store.apply([published(0, testMessage(topicId)), published(1, testMessage(topicId))]);
    const messageCount = async () => (await store.topicStats([topicId])).get(topicId)!.messageCount;
    for (const wrong of [7, 0]) {
      await file.write(() => void file.db.prepare('UPDATE topic_stats SET message_count = ?').run(wrong));
      expect(await store.recount(topicId)).toBe(2 - wrong);
      expect(await messageCount()).toBe(2);
    }
  });

  test('the end of the log never decreases after removals', async () => {
    expect(store.end()).toBe(0);
    const message = testMessage(newId(), { expiresAt: testTime + 1 });
    await store.apply([published(0, message)]);
    expect(store.end()).toBe(1);
    await store.apply([edited(41, message, { message: 'x' })]);
    expect(store.end()).toBe(42);
    await store.removeExpired(testTime + 1, 10);
    expect([store.end(), await store.watermark(0)]).toEqual([42, 41]);
    const other = testMessage(newId());
    await store.apply([published(50, other)]);
    await store.removeTopic(other.topicId, 10);
    expect(store.end()).toBe(51);
    expect(openStore().end()).toBe(51);
  });

  test('assigns an offset once, even if its record leaves no row', async () => {
    const message = testMessage(newId());
    await store.apply([published(3, message), published(5, message)]);
    expect(store.end()).toBe(6);
    await store.apply([published(9, testMessage(newId(), { expiresAt: testTime - day }))]);
    expect(store.end()).toBe(10);
    await store.apply([published(1, message)]);
    expect(store.end()).toBe(10);
  });

  test('records of a rolled-back commit leave nothing', async () => {
    const [lost, kept] = [testMessage(newId()), testMessage(newId())];
    const failing = file.write(() => {
      store.applySync([published(0, lost)]);
      throw new Error('an error of other work');
    });
    const applied = store.apply([published(1, kept)]);
    await expect(failing).rejects.toThrow('an error of other work');
    await applied;
    expect(await store.find(lost.id)).toBeNull();
    expect(await store.newest(lost.topicId, { limit: 5, now })).toEqual([]);
    expect((await store.topicStats([lost.topicId])).get(lost.topicId)?.messageCount).toBe(0);
    expect(await store.newest(kept.topicId, { limit: 5, now })).toEqual([{ ...kept, offset: 1 }]);
  });

  test('reconciles just-written records according to the current table', async () => {
    const reconciledOffsets = async (...records: Parameters<typeof store.reconcile>[1]) =>
      (await store.reconcile(0, records)).map(({ offset }) => offset);
    const [message, other] = [testMessage(newId()), testMessage(newId())];
    const [first, copy, third] = [published(4, message), published(5, message), published(6, other)];
    await file.write(() => store.applySync([first]));
    await file.write(() => store.applySync([copy, third]));
    expect(await reconciledOffsets(first, copy, third)).toEqual([4, 6]);

    const earlier = published(2, message);
    await store.apply([earlier]);
    expect(await reconciledOffsets(earlier, first, third)).toEqual([2, 6]);

    await file.write(() => store.applySync([published(7, other)]));
    const last = published(8, testMessage(other.topicId));
    await file.write(() => store.applySync([last]));
    await store.removeTopic(other.topicId, 10);
    await file.write(() => undefined);
    expect(store.readFrom(0, 10).map(({ offset }) => offset)).toEqual([2]);
    expect((await store.reconcile(0, [last])).map(({ offset }) => offset)).toEqual([8]);
    expect(store.readFrom(0, 10).map(({ offset }) => offset)).toEqual([2, 8]);
  });

  test('finds the newest messages of several topics between many others', async () => {
    const [often, seldom, never] = [newId(), newId(), newId()];
    const records = Array.from({ length: 3_000 }, (_, offset) => {
      const topicId = offset % 7 === 0 ? often : offset % 1_000 === 1 ? seldom : never;
      return published(
        offset,
        testMessage(topicId, { timestamp: now + offset, ...(offset % 5 === 0 ? { expiresAt: now + 100 } : {}) }),
      );
    });
    await store.apply(records);
    await store.apply([deleted(3_000, records[2_996]!.record.message, now + 3_000)]);
    now += 200;
    const pageOf = async (topicIds: string[], limit: number) =>
      (await store.recent(topicIds, { limit, now })).map(({ offset }) => offset);
    const expected = (topicIds: string[], limit: number) =>
      records
        .filter(
          ({ offset, record }) => topicIds.includes(record.message.topicId) && offset % 5 !== 0 && offset !== 2_996,
        )
        .map(({ offset }) => offset)
        .reverse()
        .slice(0, limit);
    for (const topicIds of [
      [often, never],
      [often, seldom],
      [seldom, never],
      [often, seldom, never],
      [often],
      [seldom],
    ]) {
      for (const limit of [1, 30, 2_500]) expect(await pageOf(topicIds, limit)).toEqual(expected(topicIds, limit));
      for (const offset of [1, 40, 2_100, 5_000]) {
        const filter = allMessagesOf(topicIds, { now });
        const { messages } = await store.search(filter, { limit: 20, offset });
        expect(messages.map((message) => message.offset)).toEqual(
          expected(topicIds, 10_000).slice(offset, offset + 20),
        );
      }
    }
  });

  test('repeated searches of long topic lists include later writes, even with more lists than a thread caches', async () => {
    const topicIds = Array.from({ length: 75 }, newId);
    const lists = Array.from({ length: 25 }, (_, from) => topicIds.slice(from, from + 50));
    let records = topicIds.map((topicId, offset) => published(offset, testMessage(topicId)));
    await store.apply(records);
    for (let round = 0; round < 3; round += 1) {
      // The last lists are the first in the next round, when they are still cached.
      for (const list of round % 2 === 0 ? lists.toReversed() : lists) {
        const shown = records
          .filter(({ record }) => list.includes(record.message.topicId))
          .map(({ offset }) => offset)
          .reverse();
        const filter = allMessagesOf(list, { now });
        const { messages, total } = await store.search(filter, { limit: 5, offset: 0 });
        expect([total, messages.map(({ offset }) => offset)]).toEqual([shown.length, shown.slice(0, 5)]);
        expect((await store.recent(list, { limit: 3, now })).map(({ offset }) => offset)).toEqual(shown.slice(0, 3));
      }
      const more = [published(100 + round, testMessage(topicIds[round * 30]!))];
      await store.apply(more);
      records = [...records, ...more];
    }
  });

  test('a deep page of a large topic is stable after a publish, a deletion and an expiry', async () => {
    const topicId = newId();
    const records = Array.from({ length: 7_000 }, (_, at) =>
      published(2 * at, testMessage(topicId, { timestamp: now + at, ...(at === 10 ? { expiresAt: now + 100 } : {}) })),
    );
    await store.apply(records);
    const gone = new Set<number>();
    const expectPages = async () => {
      const shown = records
        .map(({ offset }) => offset)
        .filter((offset) => !gone.has(offset))
        .reverse();
      const filter = allMessagesOf([topicId], { now });
      for (const offset of [2_000, 2_000, 3_500, 4_111, 2_999, shown.length - 2_010]) {
        const { messages, total } = await store.search(filter, { limit: 15, offset });
        expect([total, messages.map((message) => message.offset)]).toEqual([
          shown.length,
          shown.slice(offset, offset + 15),
        ]);
      }
    };
    await expectPages();
    records.push(published(14_000, testMessage(topicId)));
    await store.apply(records.slice(-1));
    await expectPages();
    await store.apply([deleted(14_001, records[5_000]!.record.message, now + 1)]);
    gone.add(10_000);
    await expectPages();
    now += 200;
    gone.add(20);
    await expectPages();
  });

  test('ends a search at its time limit with a remedy, and answers a concurrent short one', async () => {
    const limited = openSqliteMessages({ file, clock: () => now, searchMsMax: 0 });
    try {
      const [large, small] = [newId(), newId()];
      await store.apply(
        Array.from({ length: 5_000 }, (_, offset) =>
          published(offset, testMessage(offset === 7 ? small : large, { message: 'here' })),
        ),
      );
      const search = (topicId: string, text: string | null) =>
        limited.search(allMessagesOf([topicId], { now, text, priorityMax: 4 }), { limit: 5, offset: 0 });
      const [ofText, ofIndex, short] = await Promise.allSettled([
        search(large, 'here'),
        search(large, null),
        search(small, 'here'),
      ]);
      const ended = {
        status: 'rejected',
        reason: {
          code: 'unavailable',
          message: expect.stringContaining('limit it to one topic or to a shorter time range'),
        },
      };
      expect([ofText, ofIndex]).toMatchObject([ended, ended]);
      expect(short).toMatchObject({ status: 'fulfilled', value: { total: 1 } });
    } finally {
      await limited.close();
    }
  });

  test('rejects a different message at a used offset', async () => {
    const taken = testMessage(newId());
    await store.apply([published(7, taken)]);
    await expect(store.apply([published(7, testMessage(newId()))])).rejects.toThrow(
      'offset 7 of the log contains a different message',
    );
    expect(store.readFrom(0, 10).map(({ record }) => record.message.id)).toEqual([taken.id]);
  });
});
