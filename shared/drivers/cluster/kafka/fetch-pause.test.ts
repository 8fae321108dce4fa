import { expect, test } from '@jest/globals';
import { FetchPause } from './fetch-pause.ts';

function pausesOf(times: { baseMs: number; perRecordMs: number; maxMs: number }) {
  const pauses: number[] = [];
  const fetches = new FetchPause(times, (ms) => Promise.resolve(pauses.push(ms)));
  return { fetches, pauses };
}

test('grows with the records of a fetch, up to its maximum', async () => {
  const { fetches, pauses } = pausesOf({ baseMs: 2, perRecordMs: 1, maxMs: 10 });
  for (const records of [1, 4, 8, 500]) await fetches.after(records);
  expect(pauses).toEqual([3, 6, 10, 10]);
});

test('is shared by the partitions of a fetch, whose records count together', async () => {
  const { fetches, pauses } = pausesOf({ baseMs: 2, perRecordMs: 1, maxMs: 10 });
  await Promise.all([fetches.after(1), fetches.after(3)]);
  await fetches.after(1);
  expect(pauses).toEqual([6, 3]);
});
