import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { calmKafkaTimers } from './calm-kafka-timers.ts';

interface Queue {
  pending: unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: unknown;
  requestTimeoutIntervalId: unknown;
  inflight: Map<number, object>;
  scheduleCheckPendingRequests(): void;
  scheduleRequestTimeoutCheck(): void;
  destroy(): void;
}

const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (
  options: object,
) => Queue;

test('an idle kafkajs connection sets no timer; one with pending or throttled requests does', () => {
  expect(calmKafkaTimers()).toBe(true);
  expect(calmKafkaTimers()).toBe(true);
  const queueWith = (state: Partial<Queue>): boolean => {
    const queue = Object.assign(new RequestQueue({}), state);
    queue.scheduleCheckPendingRequests();
    const isSet = queue.throttleCheckTimeoutId !== null;
    queue.destroy();
    return isSet;
  };
  expect(queueWith({})).toBe(false);
  expect(queueWith({ pending: [{}] })).toBe(true);
  expect(queueWith({ throttledUntil: Date.now() + 10_000 })).toBe(true);
});

test('requests of all connections time out, and only these', async () => {
  expect(calmKafkaTimers()).toBe(true);
  const timedOut: string[] = [];
  const connection = (name: string, requestTimeout: number) => {
    const queue = new RequestQueue({ enforceRequestTimeout: true, requestTimeout, isConnected: () => true });
    queue.scheduleRequestTimeoutCheck();
    const request = { sentAt: Date.now(), requestTimeout, timeoutRequest: () => timedOut.push(name) };
    queue.inflight.set(1, Object.assign(request, {}));
    return queue;
  };
  const slow = connection('slow', 60_000);
  const fast = [connection('a', 10), connection('b', 20)];
  while (timedOut.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const queue of [slow, ...fast]) queue.destroy();
  expect(new Set(timedOut)).toEqual(new Set(['a', 'b']));
});
