import { expect, test } from '@jest/globals';
import type { BudgetWindow } from '../ports/bus/rate-limiter.ts';
import { BudgetCounters } from './budget-counters.ts';

const window = (key: string, lengthMs: number): BudgetWindow => ({ key, limit: 3, span: { lengthMs } });

test('a sweep removes only ended windows', () => {
  const counters = new BudgetCounters();
  for (let n = 0; n < 1_000; n += 1) counters.take([window(`short-${n}`, 1_000 + n)], 0);
  counters.take([window('long', 60_000)], 0);
  counters.sweep(500);
  expect(counters.size).toBe(1_001);
  counters.sweep(3_000);
  expect(counters.size).toBe(1);
  expect(counters.get('long', 3_000)).toEqual({ key: 'long', uses: 1, endsAt: 60_000 });
});

test('a restarted window survives the sweep of the previous one', () => {
  const counters = new BudgetCounters();
  counters.take([window('a', 1_000)], 0);
  counters.take([window('a', 5_000)], 1_500);
  counters.sweep(2_500);
  expect(counters.get('a', 2_500)).toEqual({ key: 'a', uses: 1, endsAt: 6_500 });
});

test('drops the windows that end first beyond the limit', () => {
  const counters = new BudgetCounters(3);
  counters.take([window('day', 86_400_000)], 0);
  counters.take([window('minute-1', 60_000)], 0);
  counters.take([window('minute-2', 60_500)], 0);
  counters.take([window('minute-3', 62_000)], 0);
  expect(counters.size).toBe(2);
  expect(counters.get('day', 0)?.uses).toBe(1);
  expect(counters.get('minute-3', 0)?.uses).toBe(1);
});

test('a temporarily fast clock costs at most one window', () => {
  const counters = new BudgetCounters();
  const hourMs = 3_600_000;
  for (let n = 0; n < 3; n += 1) counters.take([window('minute', 60_000)], 24 * hourMs);
  // Counted uses remain, so no more than the limit is accepted within the window.
  expect(counters.take([window('minute', 60_000)], 0)).toEqual({
    accepted: false,
    windows: [{ remaining: 0, resetAt: 60_000 }],
  });
  expect(counters.take([window('minute', 60_000)], 60_000).accepted).toBe(true);
  counters.sweep(3 * 60_000);
  expect(counters.size).toBe(0);
});

test('counts calls with slightly out-of-order times in one window', () => {
  const counters = new BudgetCounters();
  const day = (endsAt: number): BudgetWindow => ({ key: 'day', limit: 3, span: { endsAt } });
  const midnight = 86_400_000;
  counters.take([day(2 * midnight)], midnight + 1);
  counters.take([day(midnight)], midnight - 1);
  expect(counters.get('day', midnight + 2)).toEqual({ key: 'day', uses: 2, endsAt: 2 * midnight });
  counters.take([window('minute', 60_000)], 1_000);
  counters.take([window('minute', 60_000)], 990);
  expect(counters.get('minute', 2_000)).toEqual({ key: 'minute', uses: 2, endsAt: 61_000 });
});
