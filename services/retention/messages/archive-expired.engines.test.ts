import { mkdir, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { redacted, type Message, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { RecordType } from '@tocsin/shared/domain/messages/log-record.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { readArchivedMessages } from '@tocsin/shared/operations/archive/read-archive.ts';
import { removeTopicWrites } from '@tocsin/shared/collections/topic-cleanups.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import type { ArchiveStore } from '@tocsin/shared/ports/archive-store.ts';
import { listRuns } from '@tocsin/shared/collections/retention-runs.ts';
import { logConsumers } from '@tocsin/shared/collections/log-consumers.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { openArchiveDir } from '@tocsin/shared/testing/archive-dir.ts';
import { newConsumer, newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { toRunJson } from '@tocsin/shared/wire/retention.ts';
import type { RetentionDeps } from '../sweep/retention-deps.ts';
import { sweepDeps, withMethods } from '../sweep/sweep-deps.fixtures.ts';
import { expireMessages } from './expire-messages.ts';
import { forgetRuns } from './forget-runs.fixtures.ts';

const hourMs = 3_600_000;
const own = closers();
afterAll(() => own.closeAll());
const { engine } = await openOwnEngine(own);
const { documents, messages } = engine;
/** Stored messages have not expired yet; the tests' clock is an hour ahead. */
const clock = (): number => Date.now() + hourMs;
const soon = () => Date.now() + hourMs / 2;
const later = () => Date.now() + 2 * hourMs;

let offset = 0;
const makeTopic = (given: Partial<Topic> = {}): Promise<Topic> =>
  documents.insert(topics, newTopic(newId(), { partition: 0, ...given }));
const append = async (type: RecordType, message: Message): Promise<void> =>
  messages.apply([{ partition: 0, offset: (offset += 1), record: { type, timestamp: message.timestamp, message } }]);
async function store(topic: Topic, count: number, given: Partial<Message> = {}): Promise<StoredMessage[]> {
  const stored = Array.from({ length: count }, (_, index) => ({
    ...newMessage(topic.id, { expiresAt: soon(), message: `text ${index}`, ...given }),
    offset: (offset += 1),
  }));
  await messages.apply(
    stored.map(({ offset: at, ...message }) => ({
      partition: 0,
      offset: at,
      record: { type: 'message', timestamp: message.timestamp, message },
    })),
  );
  return stored;
}
const countOf = async (topic: Topic): Promise<number> =>
  (await messages.topicStats([topic.id])).get(topic.id)!.messageCount;

/** Objects are forced to disk, which a busy machine delays by seconds. */
const patienceMs = 240_000;

describe(`archive before removal, ${engineUnderTest}`, () => {
  let dir: string;
  let archive: ArchiveStore;

  beforeEach(async () => {
    const opened = await openArchiveDir();
    own.add(() => opened.close());
    dir = opened.dir;
    archive = opened.store;
    await forgetRuns(engine, clock());
  });

  const sweep = (given: Partial<RetentionDeps> = {}, closing = new AbortController().signal) =>
    expireMessages({ ...sweepDeps(engine, clock), archive, ...given }, { endsAt: Infinity, closing });
  const lastRun = async () => toRunJson((await listRuns(documents, 1))[0]!);
  async function keys(): Promise<string[]> {
    const found: string[] = [];
    for await (const key of archive.list('topics/')) found.push(key);
    return found;
  }
  /** The messages of objects with a manifest, in the order of the keys. */
  async function archived(topic: Topic): Promise<StoredMessage[]> {
    const found: StoredMessage[] = [];
    for (const key of await keys()) {
      if (!key.endsWith('.json') || !key.includes(topic.id)) continue;
      const object = key.replace(/\.json$/, '.ndjson.gz');
      for await (const message of readArchivedMessages((await archive.get(object))!, object)) found.push(message);
    }
    return found;
  }

  test(
    'removes only what the archive confirmed, and archives only topics with an archive',
    async () => {
      const [topic, off, held] = [
        await makeTopic(),
        await makeTopic({ archive: false }),
        await makeTopic({ isHeld: true }),
      ];
      const gone = await store(topic, 620, { title: 'Über', tags: ['a'] });
      const kept = await store(topic, 3, { expiresAt: later() });
      await store(off, 250);
      await store(held, 2);
      await append('message_deleted', redacted(gone[5]!, Date.now()));
      expect(await sweep()).toEqual({ removed: 870, hasMore: false });
      const expected = gone.map((message, index) =>
        index === 5 ? { ...redacted(message, expect.any(Number) as unknown as number) } : message,
      );
      expect(await archived(topic)).toEqual(expected);
      expect([await archived(off), await archived(held)]).toEqual([[], []]);
      expect([await countOf(topic), await countOf(off), await countOf(held)]).toEqual([kept.length, 0, 2]);
      expect(await lastRun()).toMatchObject({
        outcome: 'done',
        removed: { messages: 870 },
        archived: { messages: 620, objects: 1 },
      });
      expect(await keys()).toHaveLength(2);
      await documents.remove(topics, held.id);
    },
    patienceMs,
  );

  test(
    'a topic without a setting of its own follows ARCHIVE_DEFAULT',
    async () => {
      const [topic, on] = [await makeTopic(), await makeTopic({ archive: true })];
      await store(topic, 2);
      const gone = await store(on, 2);
      await sweep({ config: { ...sweepDeps(engine, clock).config, ARCHIVE_DEFAULT: false } });
      expect([await archived(topic), await archived(on)]).toEqual([[], gone]);
      expect([await countOf(topic), await countOf(on)]).toEqual([0, 0]);
    },
    patienceMs,
  );

  test(
    'archives a message again that changes between its object and its removal',
    async () => {
      const topic = await makeTopic();
      const gone = await store(topic, 3);
      const [changed, wasDeleted] = [gone[1]!, gone[2]!];
      const { promise, resolve } = Promise.withResolvers<void>();
      let puts = 0;
      const changing = withMethods(archive, {
        async put(key, body) {
          await archive.put(key, body);
          if ((puts += 1) !== 2) return; // the first manifest
          await append('message_edited', { ...changed, message: 'newer', isEdited: true, editedAt: Date.now() });
          await append('message_deleted', redacted(wasDeleted, Date.now()));
          resolve();
        },
      });
      expect(await sweep({ archive: changing })).toEqual({ removed: 3, hasMore: false });
      await promise;
      const texts = Map.groupBy(await archived(topic), ({ id }) => id);
      expect(gone.map(({ id }) => texts.get(id)!.map(({ message }) => message))).toEqual([
        ['text 0'],
        ['text 1', 'newer'],
        ['text 2', ''],
      ]);
      expect(await lastRun()).toMatchObject({ removed: { messages: 3 }, archived: { messages: 5, objects: 2 } });
      expect(await countOf(topic)).toBe(0);
    },
    patienceMs,
  );

  test(
    'without the archive only topics without one expire, and the next run continues',
    async () => {
      const [topic, off] = [await makeTopic(), await makeTopic({ archive: false })];
      const gone = await store(topic, 150);
      await store(off, 3);
      await rm(dir, { recursive: true, force: true });
      await writeFile(dir, 'no directory');
      const deps = sweepDeps(engine, clock);
      const failing = () => sweep({ metrics: deps.metrics });
      const failures = async () => (await deps.metrics.archiveFailures.get()).values[0]?.value;
      expect(await failing()).toEqual({ removed: 3, hasMore: false });
      expect([await countOf(topic), await countOf(off), await failures()]).toEqual([150, 0, 1]);
      expect(await lastRun()).toMatchObject({ outcome: 'archive_failed', removed: { messages: 3 } });
      // Further runs without effect leave no report.
      expect(await failing()).toEqual({ removed: 0, hasMore: false });
      await store(off, 2);
      expect(await failing()).toEqual({ removed: 2, hasMore: false });
      expect([await failures(), (await listRuns(documents, 10)).length, await countOf(topic)]).toEqual([3, 2, 150]);
      await rm(dir);
      await mkdir(dir);
      expect(await sweep()).toEqual({ removed: 150, hasMore: false });
      expect(await archived(topic)).toEqual(gone);
      expect(await lastRun()).toMatchObject({ outcome: 'done', archived: { messages: 150, objects: 1 } });
    },
    patienceMs,
  );

  test.each([true, false])(
    'a hold during the run keeps the rest of a topic with archive: %p',
    async (isArchiving) => {
      const topic = await makeTopic({ archive: isArchiving });
      await store(topic, 250);
      let rests = 0;
      const rest = async () => {
        // After the object and a batch, or after a batch.
        if ((rests += 1) === (isArchiving ? 2 : 1)) await documents.update(topics, topic, { isHeld: true });
        return 0;
      };
      expect(await sweep({ throttle: { rest } })).toEqual({ removed: 100, hasMore: false });
      expect(await countOf(topic)).toBe(150);
      await documents.remove(topics, topic.id);
    },
    patienceMs,
  );

  test(
    'keeps what protection keeps for a consumer, and archives the messages of other topics',
    async () => {
      const [topic, other] = [await makeTopic(), await makeTopic()];
      const [first] = await store(topic, 2);
      const gone = await store(other, 2);
      await documents.insert(logConsumers, newConsumer({ topicId: topic.id, name: 'reader', offset: first!.offset }));
      const config = { ...sweepDeps(engine, clock).config, RETENTION_PROTECT_CONSUMERS: true };
      expect(await sweep({ config })).toEqual({ removed: 2, hasMore: false });
      expect([await archived(topic), await archived(other), await countOf(topic)]).toEqual([[], gone, 2]);
    },
    patienceMs,
  );

  test(
    'a worker that lost its run does not replace the objects of the other',
    async () => {
      const topic = await makeTopic();
      const gone = await store(topic, 120);
      const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const slow = withMethods(archive, {
        async put(key, body) {
          begun.resolve();
          await goesOn.promise;
          await archive.put(key, body);
        },
      });
      let aheadMs = 0;
      const stopped = sweep({ archive: slow });
      await begun.promise;
      // The clock of the other worker is beyond the lease.
      aheadMs = 60_000;
      expect(await sweep({ clock: () => clock() + aheadMs })).toEqual({ removed: 120, hasMore: false });
      goesOn.resolve();
      expect(await stopped).toMatchObject({ removed: 0 });
      const found = await archived(topic);
      expect(new Map(found.map((message) => [message.id, message]))).toEqual(
        new Map(gone.map((message) => [message.id, message])),
      );
      expect(await countOf(topic)).toBe(0);
    },
    patienceMs,
  );

  test(
    'a shutdown ends the object, and the same run continues later',
    async () => {
      const topic = await makeTopic();
      const gone = await store(topic, 600);
      const closing = new AbortController();
      const stopping = withMethods(archive, {
        put(key, body) {
          closing.abort();
          return archive.put(key, body);
        },
      });
      expect(await sweep({ archive: stopping }, closing.signal)).toEqual({ removed: 0, hasMore: true });
      expect([await keys(), await countOf(topic)]).toEqual([[], 600]);
      expect(await lastRun()).toMatchObject({ outcome: 'running' });
      expect(await sweep()).toEqual({ removed: 600, hasMore: false });
      expect(await archived(topic)).toEqual(gone);
      expect(await lastRun()).toMatchObject({ outcome: 'done', interruptions: 0 });
    },
    patienceMs,
  );

  test(
    'a topic that is deleted during its run leaves nothing in the archive',
    async () => {
      const topic = await makeTopic();
      await store(topic, 3);
      let puts = 0;
      const deleting = withMethods(archive, {
        async put(key, body) {
          await archive.put(key, body);
          if ((puts += 1) === 2) await documents.commit(removeTopicWrites(topic, { id: newId(), now: clock() }));
        },
      });
      await sweep({ archive: deleting });
      expect(await keys()).toEqual([]);
    },
    patienceMs,
  );

  test(
    'removes changes without their message, which are not archived',
    async () => {
      const topic = await makeTopic();
      await append(
        'message_edited',
        newMessage(topic.id, { expiresAt: soon(), message: 'x', isEdited: true, editedAt: 1 }),
      );
      expect(await sweep()).toEqual({ removed: 1, hasMore: false });
      expect(await keys()).toEqual([]);
      expect(await messages.countExpired(clock(), { max: 10 })).toBe(0);
    },
    patienceMs,
  );
});
