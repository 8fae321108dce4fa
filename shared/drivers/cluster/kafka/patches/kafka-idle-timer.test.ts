import { createRequire } from 'node:module';
import { expect, test } from '@jest/globals';
import { patchKafkaIdleTimer } from './kafka-idle-timer.ts';

interface Queue {
  pending: unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: unknown;
  scheduleCheckPendingRequests(): void;
  destroy(): void;
}

test('an idle kafkajs connection sets no timer; one with pending or throttled requests does', () => {
  expect(patchKafkaIdleTimer()).toBe(true);
  expect(patchKafkaIdleTimer()).toBe(true);
  const RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue') as new (
    options: object,
  ) => Queue;
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
