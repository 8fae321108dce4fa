import { expect, test } from '@jest/globals';
import { baseAbove } from './base-above.ts';

test.each([
  [-1, 1_000_000_000],
  [0, 2_000_000_000],
  [4_711, 2_000_000_000],
  [999_999_999, 2_000_000_000],
  [1_000_000_000, 3_000_000_000],
  [2_000_000_017, 4_000_000_000],
])('a base above offset %d is round and at least a billion higher', (highest, base) => {
  expect(baseAbove(highest)).toBe(base);
  expect(base - highest).toBeGreaterThan(1_000_000_000 - 1);
});
