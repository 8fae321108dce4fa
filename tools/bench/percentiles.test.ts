import { expect, test } from '@jest/globals';
import { median, percentiles } from './percentiles.ts';

test('returns measured values by nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentiles(hundred)).toEqual({ p50: 50, p95: 95, p99: 99, max: 100 });
  expect(percentiles([7])).toEqual({ p50: 7, p95: 7, p99: 7, max: 7 });
});

test('returns 0 for no values', () => {
  expect(percentiles([])).toEqual({ p50: 0, p95: 0, p99: 0, max: 0 });
});

test('returns the middle value, or the mean of the middle two, as the median', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
});
