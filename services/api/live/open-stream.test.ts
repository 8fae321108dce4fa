import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newId, newMessage, newTopic } from '@tocsin/shared/testing/builders.ts';
import { StreamFilters } from './filtering/stream-filters.ts';
import { messageDelivery, type Delivery } from './delivery.ts';
import { openStream, type StreamDeps } from './open-stream.ts';
import { StreamBudget } from './stream-budget.ts';
import type { EndReason, StreamSink } from './stream-sink.ts';

const bytesMax = 5_000_000;
const topic = { ...newTopic(newId()), version: 1 };
const log = openLogger('test', 'silent');

/** A client that takes nothing from its buffer. */
class StalledSink implements StreamSink {
  bufferedBytes = 0;
  delivered = 0;
  isClosed = false;
  reason: EndReason | null = null;
  readonly #listeners: (() => void)[] = [];

  ready(): void {}
  position(): void {}
  ping(): void {}
  deliver(delivery: Delivery): void {
    this.delivered += 1;
    this.bufferedBytes += delivery.bytes;
  }
  drained = () => new Promise<void>((resolve) => this.onClose(resolve));
  end(reason: EndReason): void {
    this.reason = reason;
    this.cutOff();
  }
  cutOff(): void {
    this.isClosed = true;
    this.bufferedBytes = 0;
    for (const listener of this.#listeners.splice(0)) listener();
  }
  onClose(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

let budget: StreamBudget;
let sinks: StalledSink[];
let listeners: Set<(delivery: Delivery) => void>;
let offset: number;
beforeEach(() => {
  budget = new StreamBudget({ log: { warn: () => undefined }, bytesMax });
  sinks = [];
  listeners = new Set();
  offset = 0;
});
afterEach(() => {
  for (const sink of sinks) sink.cutOff();
  budget.close();
});

async function open(): Promise<StalledSink> {
  const sink = new StalledSink();
  sinks.push(sink);
  const listen = (listener: (delivery: Delivery) => void) => (
    listeners.add(listener),
    () => listeners.delete(listener)
  );
  const deps = {
    clock: Date.now,
    config: { RATE_LIMITS: false },
    feeds: { use: async () => ({ feed: { listen, newestAt: () => null }, release: () => undefined }) },
    history: { lastOffset: async () => -1 },
    log,
    makeId: newId,
    streams: { reserve: async () => ({ release: () => undefined }), add: () => undefined },
    streamBudget: budget,
    streamFilters: new StreamFilters(),
  };
  await openStream(deps as unknown as StreamDeps, {
    caller: { kind: 'anonymous', address: '192.0.2.1' },
    credential: null,
    topics: [{ topic, position: null, positionId: null }],
    managedTopics: new Set(),
    isComposite: false,
    filter: null,
    openSink: () => sink,
    ready: {},
    authorize: () => Promise.resolve(null),
  });
  return sink;
}

/** Delivers messages of about 10 kB each to all streams. */
function deliver(count: number): void {
  for (let n = 0; n < count; n += 1) {
    const message = { ...newMessage(topic.id, { message: 'x'.repeat(3_000) }), offset: (offset += 1) };
    const delivery = messageDelivery({ ...message, isEdited: false, isDeleted: false } as never, topic.name);
    for (const listener of listeners) listener(delivery);
  }
}

test('ends streams whose clients take nothing when the streams of the node buffer too much', async () => {
  for (let stream = 0; stream < 100; stream += 1) await open();
  for (let message = 0; budget.bytes <= bytesMax && message < 100; message += 1) deliver(1);
  expect(budget.bytes).toBeGreaterThan(bytesMax);
  for (const afterMs of [1_000, 2_000, 3_000, 4_000]) budget.review(performance.now() + afterMs);
  const ended = sinks.filter(({ reason }) => reason === 'too-slow');
  expect(ended.length).toBeGreaterThan(0);
  expect(ended.length).toBeLessThan(50);
  expect(budget.bytes).toBeLessThanOrEqual(bytesMax);
});

test('sends 1 MiB ahead of a client, but only 64 KiB while the streams of the node buffer much', async () => {
  const early = await open();
  deliver(130);
  expect(early.bufferedBytes).toBeGreaterThan(1024 * 1024);
  expect(early.bufferedBytes).toBeLessThan(1024 * 1024 + 20_000);
  expect(budget.bytes).toBeGreaterThan(early.bufferedBytes + 100_000);
  const other = Object.assign(new StalledSink(), { bufferedBytes: bytesMax / 2 });
  budget.join(other).written();
  const late = await open();
  deliver(130);
  expect(late.bufferedBytes).toBeGreaterThan(64 * 1024);
  expect(late.bufferedBytes).toBeLessThan(64 * 1024 + 20_000);
  // Only the newest message waits for each of the two streams.
  expect(budget.bytes).toBeLessThan(bytesMax / 2 + early.bufferedBytes + late.bufferedBytes + 50_000);
});
