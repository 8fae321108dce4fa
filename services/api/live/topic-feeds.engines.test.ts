import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { topicChannel } from '@tocsin/shared/domain/messages/channels.ts';
import { beatsChannel, type Beat } from '@tocsin/shared/domain/messages/fanout-beats.ts';
import { unavailable } from '@tocsin/shared/domain/errors.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { openOwnEngine } from '@tocsin/shared/testing/test-engine.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { TopicFeeds } from './topic-feeds.ts';

const log = openLogger('test', 'silent');
let own: Closers;
let engine: Engine;
const topic = { ...newTopic(newId()), version: 1 };

beforeEach(async () => {
  own = closers();
  ({ engine } = await openOwnEngine(own));
});
afterEach(() => own.closeAll());

/** The fan-out's steps: stores and completes the record, and publishes it if `isTold`. Resolves with the offset. */
async function publish({ isTold }: { isTold: boolean }): Promise<number> {
  const message = newMessage(topic.id);
  const record = { type: 'message' as const, timestamp: message.timestamp, message };
  const offset = await engine.eventLog.append(topic.partition, record, topic.name);
  const reconciled = await engine.messages.reconcile(topic.partition, [{ partition: topic.partition, offset, record }]);
  await engine.messages.moveWatermark(topic.partition, offset);
  if (isTold)
    await engine.bus.publish(
      topicChannel(topic.id),
      reconciled.map(({ previousOffset }) => JSON.stringify({ offset, previousOffset, record })),
    );
  return offset;
}

interface Instead {
  readonly messages?: Engine['messages'];
  readonly onConnected?: Engine['bus']['onConnected'];
}

/** A node's feeds. `messages` and `onConnected` replace those of the engine. */
function feedsOver(instead: Instead = {}): TopicFeeds {
  const { bus } = engine;
  const feeds = new TopicFeeds({
    bus: {
      subscribe: (channel, listener) => bus.subscribe(channel, listener),
      onConnected: instead.onConnected ?? ((listener) => bus.onConnected(listener)),
      get isConnected() {
        return bus.isConnected;
      },
    },
    directory: { peekTopic: () => topic, topic: () => Promise.resolve(topic) },
    history: new History(instead.messages ?? engine.messages, Date.now),
    log,
    clock: Date.now,
  });
  own.add(() => feeds.close());
  return feeds;
}

/** Follows the topic. Resolves with the received records. */
async function follow(instead: Instead = {}): Promise<number[]> {
  const seen: number[] = [];
  (await feedsOver(instead).use(topic)).feed.listen(({ offset }) => seen.push(offset));
  return seen;
}

test('backfills lost records in order when another record follows', async () => {
  const seen = await follow();
  const offsets = [await publish({ isTold: true }), await publish({ isTold: false }), await publish({ isTold: true })];
  await eventually(() => expect(seen).toEqual(offsets));
});

test('backfills lost records once the store recovers, without a following record', async () => {
  let isAway = false;
  let refused = 0;
  const refuse = () => {
    refused += 1;
    return Promise.reject(unavailable('Database'));
  };
  const seen = await follow({
    messages: {
      ...engine.messages,
      records: (id, page) => (isAway ? refuse() : engine.messages.records(id, page)),
    },
  });
  isAway = true;
  const offsets = [await publish({ isTold: false }), await publish({ isTold: true })];
  await eventually(() => refused > 0);
  expect(seen).toEqual([]);
  isAway = false;
  await eventually(() => expect(seen).toEqual(offsets));
});

test('backfills records lost soon after a reconnect, because their publisher may have reconnected later', async () => {
  const listeners: ((connected: boolean) => void)[] = [];
  const seen = await follow({
    onConnected: (listener) => {
      listeners.push(listener);
      return () => undefined;
    },
  });
  for (const listener of listeners) listener(true);
  const offsets = [await publish({ isTold: false })];
  await eventually(() => expect(seen).toEqual(offsets));
});

test('reads the store only after a reported loss, or when the fan-out is silent', async () => {
  let asked = 0;
  const watermark: Engine['messages']['watermark'] = (partition) => {
    asked += 1;
    return engine.messages.watermark(partition);
  };
  let beat: Beat = { partition: topic.partition, offset: -1, assignment: 'a', missed: -1 };
  const sendBeat = () => engine.bus.publish(beatsChannel, [JSON.stringify([beat])]);
  const beating = setInterval(() => void sendBeat(), 100);
  own.add(() => clearInterval(beating));
  const seen = await follow({ messages: { ...engine.messages, watermark } });
  const first = await publish({ isTold: true });
  await eventually(() => expect(seen).toEqual([first]));
  await pause(2_000); // the checks until the first beat
  asked = 0;
  const offsets = [first, await publish({ isTold: false })];
  await pause(2_000); // only waiting shows that nothing is read
  expect({ asked, seen }).toEqual({ asked: 0, seen: [first] });
  beat = { ...beat, offset: offsets[1]!, missed: offsets[1]! };
  await eventually(() => expect(seen).toEqual(offsets));
  asked = 0;
  offsets.push(await publish({ isTold: false }));
  clearInterval(beating);
  await eventually(() => expect(seen).toEqual(offsets), { timeoutMs: 10_000 });
});

test('concurrent readers of the same messages share one read of the store, and later ones need none', async () => {
  const [first, ...missed] = [
    await publish({ isTold: false }),
    await publish({ isTold: false }),
    await publish({ isTold: false }),
  ] as [number, ...number[]];
  let reads = 0;
  const after: Engine['messages']['after'] = (...args) => {
    reads += 1;
    return engine.messages.after(...args);
  };
  const { feed } = await feedsOver({ messages: { ...engine.messages, after } }).use(topic);
  const come = async () => (await feed.after(first)).deliveries.map(({ offset }) => offset);
  expect(await Promise.all(Array.from({ length: 20 }, come))).toEqual(Array<number[]>(20).fill(missed));
  expect(reads).toBe(1);
  const live = await publish({ isTold: true });
  await eventually(() => expect(feed.last).toBe(live));
  expect(await come()).toEqual([...missed, live]);
  expect(reads).toBe(1);
});
