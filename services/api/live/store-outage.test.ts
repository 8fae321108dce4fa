import { expect, test } from '@jest/globals';
import { storeOutage } from './store-outage.ts';

test('logs an outage of the store once, then at growing intervals, and its end once, for all topics together', () => {
  const told: [number, string][] = [];
  let now = 0;
  const say = (...given: unknown[]) => void told.push([now, String(given.at(-1))]);
  const outage = storeOutage({ warn: say, info: say } as unknown as Parameters<typeof storeOutage>[0], () => now);
  for (; now < 200_000; now += 500) for (const topicId of ['a', 'b', 'c']) outage.failed(topicId, new Error('away'));
  const waits = [0, 1, 3, 7, 15, 31, 63, 123, 183].map((seconds): [number, string] => [
    seconds * 1_000,
    'topics wait for the store',
  ]);
  expect(told.splice(0)).toEqual(waits);
  for (const topicId of ['a', 'b', 'a', 'c', 'c']) outage.over(topicId);
  expect(told.splice(0)).toEqual([[200_000, 'the store is read again for all topics']]);
  outage.failed('a', new Error('away'));
  expect(told).toHaveLength(1);
});
