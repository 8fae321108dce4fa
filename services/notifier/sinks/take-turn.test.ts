import { beforeEach, expect, test } from '@jest/globals';
import { sinks, sinkTopics } from '@tocsin/shared/collections/sinks/sinks.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { restartedSink, type Sink } from '@tocsin/shared/domain/sinks/sink.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { publish } from '@tocsin/shared/testing/test-engine.ts';
import { useTestEngine } from '@tocsin/shared/testing/use-test-engine.ts';
import { dueSink } from './due-sink.fixtures.ts';
import { HeldSink } from './held-sink.ts';
import { sinkDeps } from './sink-deps.fixtures.ts';
import { takeTurn } from './take-turn.ts';

const engine = await useTestEngine();
const { documents } = engine;

let topic: Topic;
/** The types of the events that the receiver got. */
let types: string[];
beforeEach(async () => {
  topic = await documents.insert(topics, newTopic(newId()));
  await documents.insert(sinkTopics, { id: topic.id, head: -1 });
  types = [];
});

const insertSink = (given: Partial<Sink> = {}): Promise<Sink> =>
  documents.insert(sinks, dueSink(topic, { url: 'https://hooks.example.com/', ...given }));
const sinkOf = async ({ id }: Pick<Sink, 'id'>): Promise<Sink> => (await documents.get(sinks, id))!;

/** Requests a test as the API does while a notifier holds the claim. */
async function requestTest(of: Pick<Sink, 'id'>): Promise<void> {
  await documents.update(sinks, await sinkOf(of), { testAt: Date.now(), isIdle: false });
}

/** Claims the sink and takes a turn. `meanwhile` runs during each request. */
async function takeTurnOf(
  of: Pick<Sink, 'id'>,
  { status = 204, meanwhile, turnMs }: { status?: number; meanwhile?: () => Promise<void>; turnMs?: number } = {},
): Promise<void> {
  const deps = sinkDeps({
    engine,
    turnMs,
    client: {
      async post({ body }) {
        types.push((JSON.parse(body) as { type: string }).type);
        await meanwhile?.();
        return { kind: 'answer', status, retryAfterMs: null };
      },
    },
  });
  await takeTurn(deps, (await HeldSink.claim(deps, await sinkOf(of)))!);
}

/** Runs `act` before the next read of a topic, which a turn starts with. */
function beforeTurn(act: () => Promise<void>): void {
  const get = documents.get.bind(documents);
  documents.get = async (collection, id) => {
    if (collection.name === topics.name) {
      documents.get = get;
      await act();
    }
    return get(collection, id);
  };
}

async function expectDue(of: Pick<Sink, 'id'>): Promise<void> {
  const { claim, dueAt } = await sinkOf(of);
  expect(claim).toBeNull();
  expect(dueAt).toBeLessThanOrEqual(Date.now());
}

test('a test that is requested while the turn of a paused sink ends is sent in the next turn', async () => {
  const sink = await insertSink({ state: 'paused' });
  beforeTurn(() => requestTest(sink));
  await takeTurnOf(sink);
  expect(types).toEqual([]);
  await expectDue(sink);
  await takeTurnOf(sink);
  expect(types).toEqual(['tocsin.test']);
  expect(await sinkOf(sink)).toMatchObject({ state: 'paused', testAt: null, dueAt: null, claim: null });
});

test('a test that is requested during a failing request does not wait for the retry', async () => {
  const sink = await insertSink();
  await publish(engine, topic, newMessage(topic.id));
  await takeTurnOf(sink, { status: 503, meanwhile: () => requestTest(sink) });
  expect(types).toEqual(['tocsin.message']);
  await expectDue(sink);
  expect((await sinkOf(sink)).attempts).toBe(1);
});

test('a test does not hasten the retry of a record', async () => {
  const sink = await insertSink();
  await publish(engine, topic, newMessage(topic.id));
  await takeTurnOf(sink, { status: 503, meanwhile: () => requestTest(sink) });
  const { retryAt } = await sinkOf(sink);
  await takeTurnOf(sink, { status: 503 });
  expect(types).toEqual(['tocsin.message', 'tocsin.test']);
  expect(await sinkOf(sink)).toMatchObject({ attempts: 1, testAt: null, retryAt, dueAt: retryAt, claim: null });
  expect(retryAt).toBeGreaterThan(Date.now());
});

test('a test that is requested during the request that disables the sink is sent in the next turn', async () => {
  const sink = await insertSink();
  await publish(engine, topic, newMessage(topic.id));
  await takeTurnOf(sink, { status: 410, meanwhile: () => requestTest(sink) });
  await expectDue(sink);
  expect((await sinkOf(sink)).state).toBe('disabled');
  await takeTurnOf(sink);
  expect(types).toEqual(['tocsin.message', 'tocsin.test']);
  expect(await sinkOf(sink)).toMatchObject({ state: 'disabled', testAt: null, dueAt: null });
});

test('a turn that takes too long ends after a request, and the sink stays due', async () => {
  const sink = await insertSink({ testAt: 1 });
  await publish(engine, topic, newMessage(topic.id));
  await takeTurnOf(sink, { turnMs: 0 });
  expect(types).toEqual(['tocsin.test']);
  await expectDue(sink);
  await takeTurnOf(sink);
  expect(types).toEqual(['tocsin.test', 'tocsin.message']);
  expect(await sinkOf(sink)).toMatchObject({ dueAt: null, claim: null });
});

test('a test that is requested during a test is sent, too', async () => {
  const sink = await insertSink({ testAt: 1 });
  let requested = 0;
  await takeTurnOf(sink, {
    async meanwhile() {
      if (requested === 0) await requestTest(sink);
      requested += 1;
    },
  });
  expect(types).toEqual(['tocsin.test', 'tocsin.test']);
});

test('a sink that a manager pauses during a test is tested once', async () => {
  const sink = await insertSink({ testAt: 1 });
  await takeTurnOf(sink, {
    async meanwhile() {
      const stored = await sinkOf(sink);
      await documents.update(sinks, stored, restartedSink(stored, { state: 'paused' }, Date.now()));
    },
  });
  expect(types).toEqual(['tocsin.test']);
  expect(await sinkOf(sink)).toMatchObject({ state: 'paused', testAt: null, dueAt: null });
});

test('the test of a sink whose topic was deleted is not sent, and does not make the sink due', async () => {
  const sink = await insertSink({ testAt: 1 });
  await documents.remove(topics, topic.id);
  await takeTurnOf(sink);
  expect(types).toEqual([]);
  expect((await sinkOf(sink)).dueAt).toBeGreaterThan(Date.now());
});
