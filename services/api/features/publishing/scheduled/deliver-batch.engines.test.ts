import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import { scheduledPerHolder, type ScheduledMessage } from '@tocsin/shared/domain/messages/scheduled-message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { write, type Documents } from '@tocsin/shared/ports/documents.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newId, newMessage, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { whenAvailable } from '@tocsin/shared/testing/when-available.ts';
import { Directory } from '../../../directory/directory.ts';
import { inlineStore } from '../../../storing/inline-store.ts';
import { deliverBatch, type DeliverDeps } from './deliver-batch.ts';
import { storeScheduled } from '../store-scheduled.ts';

const minuteMs = 60_000;

let own: Closers;
let engine: Engine;
let topic: Topic;
/** The clock of all nodes. */
let now: number;
/** A node, with some dependencies replaced. Resolves with the number of delivered and dropped messages. */
let deliver: (changed?: Partial<Engine>) => Promise<[number, number]>;
/** Schedules messages of the account in a minute, by default of the topic's owner. Resolves with their IDs. */
let schedule: (count: number, caller?: Caller) => Promise<string[]>;

beforeEach(async () => {
  own = closers();
  const opened = await openOwnEngine(own);
  engine = opened.engine;
  now = Date.now();
  const log = openLogger('test', 'silent');
  const directory = new Directory({ ...engine, log });
  own.add(await directory.start());
  const deps = {
    engine,
    directory,
    log,
    clock: () => now,
    config: opened.place.config,
    inlineStore: inlineStore({ messages: engine.messages, clock: systemClock, log }),
  } as unknown as DeliverDeps;
  const owner = await engine.documents.insert(users, newUser());
  topic = await engine.documents.insert(topics, newTopic(owner.id));
  deliver = async (changed = {}) => {
    const due = await engine.documents.find(scheduledMessages, { index: 'byDue', equals: {}, to: now, limit: 1_000 });
    const outcome = await deliverBatch({ ...deps, engine: { ...engine, ...changed } }, { due, now });
    return [outcome.delivered.length, outcome.dropped];
  };
  schedule = async (count, caller = accountCaller(owner.id)) => {
    const ids = Array.from({ length: count }, () => newId());
    for (const id of ids) await storeScheduled(engine.documents, caller, newScheduled(id));
    return ids;
  };
});
afterEach(() => own.closeAll());

const accountCaller = (userId: string): Caller => ({
  kind: 'account',
  userId,
  name: 'u',
  tier: 'FREE',
  scopes: null,
  credentialId: newId(),
  expiresAt: null,
});

function newScheduled(id: string) {
  const scheduledFor = now + minuteMs;
  const expiresAt = scheduledFor + 7 * 86_400_000;
  return { message: newMessage(topic.id, { id, timestamp: scheduledFor, expiresAt }), scheduledFor, ttlMs: null };
}

/** The records that readers of the topic see, in order. */
const recordsOf = async () =>
  (await engine.messages.records(topic.id, { from: 0, upTo: Number.MAX_SAFE_INTEGER, limit: 1_000, now })).map(
    ({ message, timestamp }) => [message.id, timestamp],
  );
const find = (id: string): Promise<ScheduledMessage | null> => engine.documents.get(scheduledMessages, id);

/** The documents, whose n-th commit (from 1) fails: before it, or after it, as if the node had died there. */
function failing(nth: number, when: 'before' | 'after'): Documents {
  let commits = 0;
  return {
    ...bound(engine.documents),
    async commit(writes) {
      commits += 1;
      if (commits === nth && when === 'before') throw unavailable('Database');
      await engine.documents.commit(writes);
      if (commits === nth) throw unavailable('Database');
    },
  };
}

function bound<T extends object>(target: T): T {
  return new Proxy(target, {
    get(of, name) {
      const value: unknown = Reflect.get(of, name, of);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
    ownKeys: (of) => [...new Set([...Reflect.ownKeys(of), ...Reflect.ownKeys(Object.getPrototypeOf(of) as object)])],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  });
}

test('a message is delivered at its time, with the time of the append, and has no content outside of the log', async () => {
  const [id] = await schedule(1);
  now += minuteMs - 1;
  expect(await deliver()).toEqual([0, 0]);
  now += 700;
  expect(await deliver()).toEqual([1, 0]);
  expect(await recordsOf()).toEqual([[id, now]]);
  expect((await engine.messages.find(id!))?.expiresAt).toBe(now + 7 * 86_400_000);
  expect(await find(id!)).toMatchObject({
    state: 'delivered',
    dueAt: null,
    holderId: null,
    endedAt: now,
    message: { message: '' },
  });
  expect(await deliver()).toEqual([0, 0]);
});

test.each([
  ['before its claim', 1, 'before'],
  ['after its claim', 1, 'after'],
  ['between its append and the mark', 2, 'before'],
  ['after the mark', 2, 'after'],
] as const)('a message is published once if its node dies %s', async (_where, nth, when) => {
  const ids = await schedule(3);
  now += minuteMs;
  await expect(deliver({ documents: failing(nth, when) })).rejects.toMatchObject({ code: 'unavailable' });
  now += minuteMs;
  await deliver();
  expect((await recordsOf()).map(([id]) => id).sort()).toEqual([...ids].sort());
  expect(new Set((await Promise.all(ids.map(find))).map((one) => one?.state))).toEqual(new Set(['delivered']));
  expect(await deliver()).toEqual([0, 0]);
});

test('a message is published once if the log accepted it and did not answer, also before it is stored', async () => {
  const [id] = await schedule(1);
  now += minuteMs;
  const append: Engine['eventLog']['append'] = async (...record) => {
    await engine.eventLog.append(...record);
    throw unavailable('Log');
  };
  expect(await deliver({ eventLog: { ...bound(engine.eventLog), append } })).toEqual([0, 0]);
  const first = now;
  now += minuteMs;
  await deliver();
  const records = await recordsOf();
  expect(records.map((record) => record[0])).toEqual([id]);
  // The embedded log stores a record with its message; in a cluster, a node without a fan-out stores the second one.
  expect([first, now]).toContain(records[0]![1]);
  expect((await find(id!))?.state).toBe('delivered');
});

test('a message that the log refuses is delivered later', async () => {
  const [id] = await schedule(1);
  now += minuteMs;
  const append = () => Promise.reject(unavailable('Log'));
  expect(await deliver({ eventLog: { ...bound(engine.eventLog), append } })).toEqual([0, 0]);
  expect(await recordsOf()).toEqual([]);
  now += minuteMs;
  expect(await deliver()).toEqual([1, 0]);
  expect(await recordsOf()).toEqual([[id, now]]);
});

test('a message whose delivery was not confirmed is not published again after its expiry', async () => {
  const [id] = await schedule(1);
  now += minuteMs;
  await expect(deliver({ documents: failing(1, 'after') })).rejects.toMatchObject({ code: 'unavailable' });
  now += 8 * 86_400_000;
  expect(await deliver()).toEqual([0, 1]);
  expect(await find(id!)).toMatchObject({ state: 'dropped', reason: 'Expired before its delivery was confirmed' });
});

test('each message is delivered by one of many nodes', async () => {
  const ids = await schedule(100);
  now += minuteMs;
  // On an overloaded machine, a claim can conflict with others until its time limit. The node then tries again.
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => whenAvailable(() => deliver())));
  expect(outcomes.reduce((sum, [delivered]) => sum + delivered, 0)).toBe(100);
  const records = await recordsOf();
  expect(records.map(([id]) => id).sort()).toEqual([...ids].sort());
});

test('a message that is cancelled while others are claimed is not published, and the others are', async () => {
  const [first, second] = await schedule(2);
  now += minuteMs;
  const documents: Documents = {
    ...bound(engine.documents),
    async commit(writes) {
      const cancelled = await find(first!);
      if (cancelled?.state === 'scheduled' && cancelled.version === 1)
        await engine.documents.update(scheduledMessages, cancelled, { state: 'cancelled', dueAt: null });
      await engine.documents.commit(writes);
    },
  };
  expect(await deliver({ documents })).toEqual([1, 0]);
  expect((await recordsOf()).map(([id]) => id)).toEqual([second]);
  expect((await find(first!))?.state).toBe('cancelled');
});

test('at most 1,000 messages of an account wait, under concurrent publishes, and an end makes room', async () => {
  const [id] = await schedule(1);
  const model = (await find(id!))!;
  const { holderId } = model;
  for (let left = scheduledPerHolder - 4; left > 0; left -= 500) {
    await engine.documents.commit(
      Array.from({ length: Math.min(left, 500) }, () => write.insert(scheduledMessages, { ...model, id: newId() })),
    );
  }
  const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => schedule(1)));
  const refused = attempts.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
  expect(refused.map(({ message }) => message)).toEqual(refused.map(() => 'Scheduled message limit reached'));
  expect(attempts.length - refused.length).toBe(3);
  expect(await engine.documents.count(scheduledMessages, { index: 'byHolder', equals: { holderId: holderId! } })).toBe(
    scheduledPerHolder,
  );
  // Anonymous callers cannot use up the limit of the topic's owner, and have their own.
  await schedule(1, { kind: 'anonymous', address: '192.0.2.1' });
  await engine.documents.remove(scheduledMessages, id!);
  await schedule(1);
  await expect(schedule(1)).rejects.toThrow('Scheduled message limit reached');
});
