import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { closers, type Closers } from '@tocsin/shared/platform/lifecycle.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { History } from '@tocsin/shared/operations/messages/history.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { engineUnderTest, openOwnEngine, publish } from '@tocsin/shared/testing/test-engine.ts';
import { Directory } from '../directory/directory.ts';
import { openStream, type StreamDeps, type StreamTopic } from './open-stream.ts';
import { OpenStreams } from './open-streams.ts';
import { StreamFilters } from './filtering/stream-filters.ts';
import { StreamBudget } from './stream-budget.ts';
import type { StreamSink } from './stream-sink.ts';
import { TopicFeeds } from './topic-feeds.ts';

const log = openLogger('test', 'silent');
const topics = [newTopic(newId()), newTopic(newId())].map((topic) => ({ ...topic, version: 1 }));

let own: Closers;
let engine: Engine;
let deps: StreamDeps;
/** The feeds in use. */
let inUse: number;

beforeEach(async () => {
  own = closers();
  ({ engine } = await openOwnEngine(own));
  const directory = new Directory({ ...engine, log });
  own.add(await directory.start());
  const history = new History(engine.messages, Date.now);
  const feeds = new TopicFeeds({ bus: engine.bus, directory, history, log, clock: Date.now });
  own.add(() => feeds.close());
  const streams = new OpenStreams({ bus: engine.bus, clock: Date.now, directory, log, nodeId: newId() });
  own.add(() => streams.close());
  inUse = 0;
  const counted: StreamDeps['feeds'] = {
    async use(topic) {
      const { feed, release } = await feeds.use(topic);
      inUse += 1;
      return {
        feed,
        release() {
          inUse -= 1;
          release();
        },
      };
    },
  };
  const streamBudget = new StreamBudget({ log });
  own.add(() => streamBudget.close());
  deps = {
    clock: Date.now,
    config: { RATE_LIMITS: true },
    feeds: counted,
    history,
    log,
    makeId: newId,
    streams,
    streamBudget,
    streamFilters: new StreamFilters(),
  };
});
afterEach(() => own.closeAll());

/** A sink that accepts everything. */
class TakingSink implements StreamSink {
  readonly bufferedBytes = 0;
  readonly #listeners: (() => void)[] = [];
  isClosed = false;

  ready(): void {}
  deliver: StreamSink['deliver'] = () => undefined;
  position(): void {}
  ping(): void {}
  drained = () => Promise.resolve();
  end = (): void => this.close();
  cutOff = (): void => this.close();

  onClose(listener: () => void): void {
    if (this.isClosed) listener();
    else this.#listeners.push(listener);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const listener of this.#listeners) listener();
  }
}

const anonymous: Caller = { kind: 'anonymous', address: '192.0.2.1' };

const fromNow = (topic: Topic): StreamTopic => ({ topic, position: null, positionId: null });

/** Opens a stream with the sink of `openSink`; by default of both topics, live. */
function open(
  openSink: () => StreamSink = () => new TakingSink(),
  caller = anonymous,
  starts = topics.map(fromNow),
): Promise<void> {
  return openStream(deps, {
    caller,
    openSink,
    credential: null,
    managedTopics: new Set(),
    isComposite: true,
    filter: null,
    ready: {},
    topics: starts,
    authorize: () => Promise.resolve(null),
  });
}

const openAtOnce = async (count: number): Promise<string[]> => {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, () => open()));
  return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'opened' : (outcome.reason as Error).message));
};

test(`opens as many concurrent streams as the limit allows, ${engineUnderTest}`, async () => {
  const outcomes = await openAtOnce(60);
  expect(outcomes.filter((outcome) => outcome === 'opened')).toHaveLength(50);
  expect(outcomes.filter((outcome) => outcome === 'Too many open streams')).toHaveLength(10);
  expect([deps.streams.size, inUse]).toEqual([50, 100]);
});

test('a stream whose sink fails leaves nothing behind and uses no slot', async () => {
  const refuse = () => {
    throw new Error('no valid handshake');
  };
  for (let count = 0; count < 60; count += 1) await expect(open(refuse)).rejects.toThrow('no valid handshake');
  expect([deps.streams.size, inUse]).toEqual([0, 0]);
  expect(await openAtOnce(50)).toEqual(Array<string>(50).fill('opened'));
});

test('a client that disconnects before its stream opens leaves nothing behind', async () => {
  const gone = () => {
    const sink = new TakingSink();
    sink.close();
    return sink;
  };
  for (let count = 0; count < 60; count += 1) await open(gone);
  expect([deps.streams.size, inUse]).toEqual([0, 0]);
});

test('an ended stream releases its slot and its feeds', async () => {
  const sinks = Array.from({ length: 50 }, () => new TakingSink());
  for (const sink of sinks) await open(() => sink);
  await expect(open()).rejects.toMatchObject({ code: 'limited' });
  sinks[0]!.close();
  expect([deps.streams.size, inUse]).toEqual([49, 98]);
  await open();
});

test('a stream from before the messages in memory reads history, but not the last offset of the topic', async () => {
  const topic = topics[0]!;
  const messages = ['one', 'two', 'three'].map((message) => newMessage(topic.id, { message }));
  for (const message of messages) await publish(engine, topic, message);
  const [first, ...others] = await engine.messages.newest(topic.id, { limit: messages.length, now: Date.now() });
  await engine.messages.moveWatermark(topic.partition, others.at(-1)!.offset);
  const sink = new TakingSink();
  const delivered: string[] = [];
  sink.deliver = ({ messageId }) => void delivered.push(messageId);
  const unread = () => Promise.reject(new Error('read the last offset'));
  deps = { ...deps, history: { lastOffset: unread } as unknown as History };
  const position = { after: first!.offset, isExact: true, expiresAt: null };
  await open(() => sink, anonymous, [{ topic, position, positionId: first!.id }]);
  expect(delivered).toEqual(others.map(({ id }) => id));
  sink.close();
});
