import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { sweepThrottle } from './sweep-throttle.ts';

const open = new AbortController().signal;

test('a sweep pauses longer than it worked while the store is fast', async () => {
  const way = sweepThrottle({ messages: { ping: async () => undefined } });
  expect(await way.rest(40, open)).toBeGreaterThanOrEqual(79);
});

test('a sweep waits while the store is slow, and continues after it recovered or after some seconds', async () => {
  let slowPings = 2;
  const recovering = sweepThrottle({ messages: { ping: () => pause(slowPings-- > 0 ? 60 : 0) } });
  // Two slow responses and the pauses of 100 and 200 ms after them.
  expect(await recovering.rest(0, open)).toBeGreaterThanOrEqual(2 * 59 + 299);
  const slow = sweepThrottle({ messages: { ping: () => pause(60) } });
  expect(await slow.rest(0, open)).toBeGreaterThanOrEqual(2_000);
});

test('an aborted sweep does not pause', async () => {
  const asked: number[] = [];
  const way = sweepThrottle({ messages: { ping: async () => void asked.push(1) } });
  // The regular pause would take a second, after which the store is pinged.
  expect(await way.rest(60_000, AbortSignal.abort())).toBeLessThan(500);
  expect(asked).toEqual([]);
});
