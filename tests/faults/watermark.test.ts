import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openMongoMessages } from '@tocsin/shared/drivers/cluster/mongo/messages/mongo-messages.ts';
import { mongoTestDatabase } from '@tocsin/shared/drivers/cluster/mongo/mongo-test-database.fixtures.ts';
import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newId, published, testMessage } from '@tocsin/shared/contracts/messages/messages.fixtures.ts';
import type { Messages } from '@tocsin/shared/ports/messages/messages.ts';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { newTestPlace, openTestEngine } from '@tocsin/shared/testing/test-engine.ts';
import { describeWithEngines } from '@tocsin/shared/testing/describe-with-engines.ts';

const log = openLogger('test', 'silent');
/** How long History waits for the watermark, plus a margin for a slow machine. */
const waitMsMin = 900;
const recordCount = Number(process.env['TOCSIN_WATERMARK_RECORDS'] ?? 300);

/** Records from offset 0, created one millisecond apart. */
function recordsOf(topicId: string, count: number): PlacedRecord[] {
  const begun = Date.now() - count;
  return Array.from({ length: count }, (_, offset) => {
    const timestamp = begun + offset;
    return published(offset, testMessage(topicId, { timestamp, expiresAt: timestamp + 3_600_000 }));
  });
}
const offsets = (page: readonly { readonly offset: number }[]) => page.map(({ offset }) => offset);

/** Reads from its last offset until the last record, like a client with a cursor. */
async function follow(
  read: (after: number) => Promise<readonly { readonly offset: number }[]>,
  last: number,
): Promise<number[]> {
  const seen: number[] = [];
  for (let cursor = -1; cursor < last; cursor = seen.at(-1) ?? -1) {
    const page = await read(cursor);
    seen.push(...offsets(page));
    if (page.length === 0) await pause(1);
  }
  return seen;
}

describeWithEngines('reading history on MongoDB', ({ mongoUrl }) => {
  let own: Closers;
  let messages: Messages;
  let newStore: () => Promise<Messages>;
  const topicId = newId();
  const topic = { id: topicId, partition: 0 };
  const history = (store: Messages) => new History(store, Date.now);

  beforeEach(async () => {
    own = closers();
    const database = mongoTestDatabase(mongoUrl, 'watermark');
    own.add(() => database.drop());
    newStore = async () => openMongoMessages({ connection: await database.connect(), clock: Date.now, log });
    messages = await newStore();
  });
  afterEach(() => own.closeAll());

  /**
   * Offset 10 is on the log without its document, because its publisher hangs; offset 11 of another publisher is
   * stored.
   */
  const withAHole = async () => {
    const records = recordsOf(topicId, 12);
    await messages.reconcile(0, records.slice(0, 10));
    await messages.moveWatermark(0, 9);
    await messages.apply([records[11]!]);
    return records;
  };
  /** The fan-out's step for the next batch. */
  const settle = async (store: Messages, records: readonly PlacedRecord[]) => {
    await store.reconcile(0, records);
    await store.moveWatermark(0, records.at(-1)!.offset);
  };

  test('does not return 11 to a cursor before 10 is stored, and then returns both', async () => {
    const records = await withAHole();
    const reader = history(await newStore());
    expect(offsets(await reader.after(topic, 7, 100))).toEqual([8, 9]);
    expect(offsets(await reader.records(topic, 8, 100))).toEqual([8, 9]);
    await settle(messages, records.slice(10));
    expect(offsets(await reader.after(topic, 9, 100))).toEqual([10, 11]);
    expect(offsets(await reader.records(topic, 10, 100))).toEqual([10, 11]);
  });

  test('returns everything without a cursor after waiting a second for 10', async () => {
    await withAHole();
    const askedAt = performance.now();
    expect(offsets(await history(await newStore()).newest(topic, 3))).toEqual([8, 9, 11]);
    const waitedMs = performance.now() - askedAt;
    expect(waitedMs).toBeGreaterThan(waitMsMin);
    console.log(JSON.stringify({ test: 'watermark', waitedMs: Math.round(waitedMs) }));
  });

  test('returns both to a waiting reader as soon as 10 is stored', async () => {
    const records = await withAHole();
    const reading = history(await newStore()).after(topic, 9, 100);
    await settle(messages, records.slice(10));
    expect(offsets(await reading)).toEqual([10, 11]);
  });

  // The page is read, then 10 and the watermark arrive, then the watermark is read: it does not apply to that page.
  const reads: [string, (reader: History) => Promise<readonly { readonly offset: number }[]>][] = [
    ['by a cursor', (reader) => reader.after(topic, 9, 100)],
    ['by a position', (reader) => reader.records(topic, 10, 100)],
    ['without a cursor', (reader) => reader.newest(topic, 2)],
  ];
  test.each(reads)('has no gap if records arrive between the page and the watermark (%s)', async (_, read) => {
    const records = await withAHole();
    const store = await newStore();
    let mustArrive = true;
    const arriveAfter =
      <A extends unknown[], R>(page: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        const found = await page(...args);
        if (mustArrive) await settle(messages, records.slice(10));
        mustArrive = false;
        return found;
      };
    const reader = history({
      ...store,
      after: arriveAfter(store.after),
      records: arriveAfter(store.records),
      newest: arriveAfter(store.newest),
    });
    expect(offsets(await read(reader))).toEqual([10, 11]);
  });

  test('has no gap when reading from a time, whichever document is stored first', async () => {
    const records = await withAHole();
    const asked = history(await newStore()).offsetAtTime(topic, records[10]!.record.timestamp);
    await settle(messages, records.slice(10));
    expect(await asked).toMatchObject({ offset: 10 });
  });

  test('returns everything once and in order while two nodes write in any order', async () => {
    const records = recordsOf(topicId, recordCount);
    const last = recordCount - 1;
    const following = Promise.all(
      [1, 2].flatMap(() => [
        newStore().then((store) => follow((after) => history(store).after(topic, after, 50), last)),
        newStore().then((store) => {
          const reader = history(store);
          return follow((after) => reader.records(topic, after + 1, 50), last);
        }),
      ]),
    );
    const nodes = [messages, await newStore()];
    const writing = (async () => {
      for (let at = 0; at < recordCount; at += 10) {
        // The nodes never write some documents: the fan-out backfills them.
        const batch = records
          .slice(at, at + 10)
          .filter(() => Math.random() > 0.1)
          .sort(() => Math.random() - 0.5);
        await Promise.all(batch.map((record, index) => nodes[index % 2]!.apply([record])));
      }
    })();
    const fanOut = await newStore();
    for (let at = 0; at < recordCount; at += 7) await settle(fanOut, records.slice(at, at + 7));
    await writing;
    const expected = records.map(({ offset }) => offset);
    expect(await following).toEqual([expected, expected, expected, expected]);
  });
});

// Log record and document are one commit here, so documents are never out of order, and the watermark is the head.
describe('reading history on SQLite', () => {
  test('returns everything once and in order without waiting while publishers append concurrently', async () => {
    const place = newTestPlace();
    const engine = await openTestEngine(place);
    try {
      const topic = { id: newId(), partition: 0 };
      const history = new History(engine.messages, Date.now);
      let slowestReadMs = 0;
      const timed = async <T>(reading: Promise<T>): Promise<T> => {
        const begun = performance.now();
        const found = await reading;
        slowestReadMs = Math.max(slowestReadMs, performance.now() - begun);
        return found;
      };
      const records = recordsOf(topic.id, recordCount);
      const following = follow((after) => timed(history.after(topic, after, 50)), recordCount - 1);
      await Promise.all(
        [0, 1, 2, 3].map(async (publisher) => {
          for (const { record } of records.filter((_, index) => index % 4 === publisher)) {
            const offset = await engine.eventLog.append(0, record, 'alarms');
            expect(await engine.messages.watermark(0)).toBeGreaterThanOrEqual(offset);
          }
        }),
      );
      expect(await following).toEqual(records.map((_, index) => index));
      expect(slowestReadMs).toBeLessThan(waitMsMin);
    } finally {
      await engine.close();
      await place.remove();
    }
  });
});
