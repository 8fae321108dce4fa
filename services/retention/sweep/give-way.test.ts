import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { giveWay } from './give-way.ts';

const open = new AbortController().signal;

test('a sweep rests for longer than it worked while the store answers at once', async () => {
  const way = giveWay({ messages: { ping: async () => undefined } });
  expect(await way.rest(40, open)).toBeGreaterThanOrEqual(79);
});

test('a sweep stands back while the store is slow, and goes on when it has recovered or after some seconds', async () => {
  let slowPings = 2;
  const recovering = giveWay({ messages: { ping: () => pause(slowPings-- > 0 ? 60 : 0) } });
  // Two slow answers, and the pauses of 100 and 200 ms behind them.
  expect(await recovering.rest(0, open)).toBeGreaterThanOrEqual(2 * 59 + 299);
  const slow = giveWay({ messages: { ping: () => pause(60) } });
  expect(await slow.rest(0, open)).toBeGreaterThanOrEqual(2_000);
});

test('a sweep that is to end does not rest', async () => {
  const asked: number[] = [];
  const way = giveWay({ messages: { ping: async () => void asked.push(1) } });
  // A rest as long as the work asks for would take a second, behind which the store is asked.
  expect(await way.rest(60_000, AbortSignal.abort())).toBeLessThan(500);
  expect(asked).toEqual([]);
});
