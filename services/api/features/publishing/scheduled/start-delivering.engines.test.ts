import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { systemClock, type Clock } from '@tocsin/shared/platform/clock.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { scheduledMessages } from '@tocsin/shared/collections/messages/scheduled-messages.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newScheduledMessage, newTopic, newUser } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { Directory } from '../../../directory/directory.ts';
import { inlineStore } from '../../../storing/inline-store.ts';
import { startDelivering } from './start-delivering.ts';

const hourMs = 3_600_000;

let own: Closers;
let engine: Engine;
let topic: Topic;
/** Starts a node with this clock, on a store with the true time. Resolves with its metrics. */
let startNode: (clock: Clock) => Promise<Registry>;

beforeEach(async () => {
  own = closers();
  const opened = await openOwnEngine(own);
  const { place } = opened;
  engine = { ...opened.engine, storage: { ...opened.engine.storage, time: () => Promise.resolve(Date.now()) } };
  const log = openLogger('test', 'silent');
  const directory = new Directory({ ...engine, log });
  own.add(await directory.start());
  const owner = await engine.documents.insert(users, newUser());
  topic = await engine.documents.insert(topics, newTopic(owner.id));
  startNode = (clock) => {
    const metrics = new Registry();
    const deps = {
      engine,
      directory,
      log,
      clock,
      metrics,
      config: place.config,
      inlineStore: inlineStore({ messages: engine.messages, clock: systemClock, log }),
    } as unknown as Parameters<typeof startDelivering>[0];
    const delivering = startDelivering(deps);
    own.add(() => delivering.close());
    return Promise.resolve(metrics);
  };
});
afterEach(() => own.closeAll());

/** Stores a message that is due this much later. Resolves with its ID. */
async function scheduleIn(ms: number): Promise<string> {
  const scheduled = newScheduledMessage(topic);
  const time = Date.now() + ms;
  await engine.documents.insert(scheduledMessages, { ...scheduled, scheduledFor: time, dueAt: time });
  return scheduled.id;
}

/** The different states of these messages. */
async function statesOf(...ids: string[]): Promise<string[]> {
  const found = await engine.documents.pick(scheduledMessages, ids, ['state']);
  expect(found).toHaveLength(ids.length);
  return [...new Set(found.map(({ state }) => state))];
}

test('a node whose clock is ahead publishes what is due by the clock of the store, and nothing else', async () => {
  const [due, early] = [await scheduleIn(-1), await scheduleIn(hourMs / 2)];
  await startNode(() => Date.now() + hourMs);
  await eventually(async () => expect(await statesOf(due)).toEqual(['delivered']));
  expect(await statesOf(early)).toEqual(['scheduled']);
});

test('a node delivers more than one batch, and counts messages and lateness', async () => {
  const ids = await Promise.all(Array.from({ length: 450 }, (_, index) => scheduleIn(index % 300)));
  const metrics = await startNode(systemClock);
  await eventually(async () => expect(await statesOf(...ids)).toEqual(['delivered']));
  await eventually(async () => {
    const text = await metrics.metrics();
    expect(text).toContain('tocsin_scheduled_messages_total{outcome="delivered"} 450');
    expect(text).toContain('tocsin_scheduled_lateness_seconds_count 450');
  });
});
