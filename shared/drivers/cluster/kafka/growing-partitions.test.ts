import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '../../../testing/eventually.ts';
import { GrowingPartitions } from './growing-partitions.ts';

let partitions: GrowingPartitions | undefined;
afterEach(() => partitions?.close());

test('new topics use added partitions only after three checks have found them', async () => {
  const counts = [4, 4, 4, 6, 6];
  const used: number[] = [];
  partitions = new GrowingPartitions(4, {
    everyMs: 1,
    count: () => {
      used.push(partitions!.used);
      return Promise.resolve(counts.shift() ?? 6);
    },
  });
  await eventually(() => expect(partitions!.used).toBe(6));
  expect(used.slice(0, 6)).toEqual([4, 4, 4, 4, 4, 4]);
});

test('an added partition exists as soon as Kafka has it, also while checks fail', async () => {
  let count = 4;
  partitions = new GrowingPartitions(4, { everyMs: 60_000, count: () => Promise.resolve(count) });
  expect(await partitions.has(3)).toBe(true);
  expect(await partitions.has(4)).toBe(false);
  count = 5;
  expect(await partitions.has(4)).toBe(true);
  expect(await partitions.has(-1)).toBe(false);
  expect(partitions.used).toBe(4);
});

test('a failed check changes nothing', async () => {
  let checks = 0;
  partitions = new GrowingPartitions(4, {
    everyMs: 1,
    count: () => Promise.reject(new Error(`no answer to check ${++checks}`)),
  });
  await eventually(() => expect(checks).toBeGreaterThan(3));
  expect(partitions.used).toBe(4);
});
