import { expect, test } from '@jest/globals';
import { freePorts } from './free-ports.ts';

test('free ports are different ones below the ports of outgoing connections', async () => {
  const ports = await freePorts(20);
  expect(new Set(ports).size).toBe(20);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});
