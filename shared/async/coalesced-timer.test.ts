import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventually } from '../testing/eventually.ts';
import { coalescedInterval, coalescedPause } from './coalesced-timer.ts';

const blockFor = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

test('intervals that began at different times are due together', async () => {
  const turns = { first: new Set<number>(), second: new Set<number>() };
  let turn = 0;
  const count = (of: Set<number>) => () => {
    of.add(turn);
    setImmediate(() => (turn += 1)); // both calls of a turn come before it
  };
  const stopFirst = coalescedInterval(50, count(turns.first));
  await pause(20);
  const stopSecond = coalescedInterval(100, count(turns.second));
  await eventually(() => turns.second.size >= 5);
  stopFirst();
  stopSecond();
  expect([...turns.second].filter((one) => !turns.first.has(one))).toEqual([]);
});

test('a blocked process makes one call for the missed ones, and the next one after a pause', async () => {
  const calls: number[] = [];
  const stop = coalescedInterval(200, () => calls.push(performance.now()));
  await eventually(() => calls.length >= 1, { intervalMs: 2 });
  blockFor(1_150);
  await eventually(() => calls.length >= 3, { intervalMs: 2 });
  stop();
  expect(calls[1]! - calls[0]!).toBeGreaterThan(1_000);
  expect(calls[2]! - calls[1]!).toBeGreaterThanOrEqual(48);
});

test('no call follows the end, also if an earlier call of the same turn ended it', async () => {
  const calls: string[] = [];
  const stopFirst = coalescedInterval(50, () => {
    calls.push('first');
    stopSecond();
  });
  const stopSecond = coalescedInterval(50, () => calls.push('second'));
  await eventually(() => calls.length >= 2);
  stopFirst();
  const count = calls.length;
  await pause(120);
  expect(calls).toEqual(Array<string>(count).fill('first'));
});

test('a pause ends at the interval, or when its signal is aborted', async () => {
  const closing = new AbortController();
  const began = performance.now();
  await coalescedPause(100, closing.signal);
  expect(performance.now() - began).toBeGreaterThanOrEqual(24);
  const pausing = coalescedPause(3_600_000, closing.signal);
  closing.abort();
  await pausing;
  await coalescedPause(3_600_000, closing.signal);
});

test('only intervals that are not in the background keep the process alive', () => {
  const timeouts = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timeouts();
  const stopBackground = coalescedInterval(60_000, () => undefined, { isBackground: true });
  expect(timeouts()).toBe(before);
  const stop = coalescedInterval(60_000, () => undefined);
  expect(timeouts()).toBe(before + 1);
  stop();
  expect(timeouts()).toBe(before);
  stopBackground();
});
