import { expect, test } from '@jest/globals';
import { median, percentiles } from './percentiles.ts';

test('percentiles are values that were measured, by nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentiles(hundred)).toEqual({ p50: 50, p95: 95, p99: 99, max: 100 });
  expect(percentiles([7])).toEqual({ p50: 7, p95: 7, p99: 7, max: 7 });
});

test('percentiles of nothing are 0', () => {
  expect(percentiles([])).toEqual({ p50: 0, p95: 0, p99: 0, max: 0 });
});

test('the median is the middle value, or the mean of the middle two', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
});
