import { expect, test } from '@jest/globals';
import { protectedHorizon, protectedMs } from './protection.ts';

test('a protected consumer reads what expired in the last 7 days and after it was placed', () => {
  const now = 1_000 * protectedMs;
  const horizon = (placedAt: number | null, updatedAt: number) => protectedHorizon({ placedAt, updatedAt }, now);
  expect(horizon(0, now)).toBe(now - protectedMs);
  expect(horizon(now - 5, now)).toBe(now - 5);
  expect(horizon(null, now - 7)).toBe(now - 7);
  expect(horizon(now + 5, now)).toBe(now);
});
