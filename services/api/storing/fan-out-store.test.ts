import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { storedReportsChannel } from '@tocsin/shared/domain/messages/stored-reports.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { newId, newMessage } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { FanOutStore } from './fan-out-store.ts';

const nodeId = newId();
/** Longer than a node avoids a fan-out that was late. */
const longMs = 60_000;

let store: FanOutStore;
let close: () => Promise<void>;
let isConnected: boolean;
/** Added to the clock. */
let skippedMs: number;
/** Offsets that the node stored itself. */
let direct: number[];
/** Reports as the fan-out does. */
let report: (partition: number, upTo: number) => void;

beforeEach(async () => {
  isConnected = true;
  skippedMs = 0;
  direct = [];
  store = new FanOutStore({
    nodeId,
    bus: {
      get isConnected() {
        return isConnected;
      },
      subscribe: (channel, listener) => {
        expect(channel).toBe(storedReportsChannel(nodeId));
        report = (partition, upTo) => listener(JSON.stringify({ partition, upTo }));
        return Promise.resolve({ close: () => Promise.resolve() });
      },
    },
    direct: { store: ({ offset }) => Promise.resolve(void direct.push(offset)) },
    clock: () => performance.now() + skippedMs,
    log: openLogger('test', 'silent'),
  });
  close = await store.start();
});
afterEach(() => close());

function placed(partition: number, offset: number): PlacedRecord {
  const message = newMessage('a topic');
  return { partition, offset, record: { type: 'message', timestamp: message.timestamp, message } };
}

/** Stores a message, and shows whether its publish may respond. */
function storing(partition: number, offset: number): { readonly promise: Promise<void>; isDone: boolean } {
  const state = { promise: store.store(placed(partition, offset)), isDone: false };
  void state.promise.then(() => (state.isDone = true));
  return state;
}

test('a publish waits until the fan-out reports its offset in its partition', async () => {
  const waiting = storing(0, 7);
  report(1, 100);
  report(0, 6);
  await Promise.resolve();
  expect(waiting.isDone).toBe(false);
  report(0, 7);
  await waiting.promise;
  expect(direct).toEqual([]);
});

test('a report that arrives before the response of the log counts', async () => {
  report(0, 9);
  await store.store(placed(0, 9));
  await store.store(placed(0, 3));
  expect(direct).toEqual([]);
});

test('the node stores messages itself while the bus is down', async () => {
  isConnected = false;
  await store.store(placed(0, 1));
  expect(direct).toEqual([1]);
});

test('if the fan-out is late, the node stores what waits and what follows, until a message is stored in time', async () => {
  await Promise.all([store.store(placed(0, 1)), store.store(placed(0, 2))]);
  expect(direct).toEqual([1, 2]);
  await store.store(placed(0, 3));
  const other = storing(1, 1);
  expect(direct).toEqual([1, 2, 3]);
  report(1, 1);
  await other.promise;

  skippedMs += longMs;
  report(0, 3); // too late to prove that the fan-out works
  await store.store(placed(0, 4));
  expect(direct).toEqual([1, 2, 3, 4]);
  report(0, 4);
  const waiting = storing(0, 5);
  report(0, 5);
  await waiting.promise;
  expect(direct).toEqual([1, 2, 3, 4]);
});

test('a publish waits longer for a fan-out that reports other messages, but at most two seconds', async () => {
  jest.useFakeTimers();
  try {
    void store.store(placed(0, 100));
    const reportEvery = async (ms: number, count: number) => {
      for (let upTo = 0; upTo < count; upTo += 1) {
        await jest.advanceTimersByTimeAsync(ms);
        report(0, upTo);
      }
    };
    await reportEvery(500, 3);
    expect(direct).toEqual([]);
    await reportEvery(500, 1);
    expect(direct).toEqual([100]);

    void store.store(placed(1, 100));
    report(1, 0);
    await jest.advanceTimersByTimeAsync(700);
    expect(direct).toEqual([100, 100]);
  } finally {
    jest.useRealTimers();
  }
});

test('a fan-out that was late is avoided for some seconds, even if it continues', async () => {
  await store.store(placed(0, 1));
  await store.store(placed(0, 2));
  report(0, 2);
  await store.store(placed(0, 3));
  expect(direct).toEqual([1, 2, 3]);
});

test('a closing node lets waiting publishes respond', async () => {
  const waiting = storing(0, 1);
  await close();
  await eventually(() => expect(waiting.isDone).toBe(true));
  expect(direct).toEqual([]);
});
