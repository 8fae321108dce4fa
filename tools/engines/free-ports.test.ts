import { expect, test } from '@jest/globals';
import { freePorts } from './free-ports.ts';

test('returns different ports below the ephemeral range', async () => {
  const ports = await freePorts(20);
  expect(new Set(ports).size).toBe(20);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
