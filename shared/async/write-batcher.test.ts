import { expect, test } from '@jest/globals';
import { eventually } from '../testing/eventually.ts';
import { writeBatcher } from './write-batcher.ts';

/** A store whose writes end on the test's request. */
function manualStore() {
  const writes: { items: readonly number[]; end: (error?: Error) => void }[] = [];
  const write = (items: readonly number[]) =>
    new Promise<void>((resolve, reject) => {
      writes.push({ items, end: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  return { writes, write };
}

const limits = { batchSizeMax: 4, writesMax: 1, itemsMax: 100 };

test('batches calls of one tick into one write, and calls during a write into the next', async () => {
  const { writes, write } = manualStore();
  const call = writeBatcher(write, limits);
  const first = [call([1]), call([2])];
  await eventually(() => writes.length === 1);
  const second = [call([3]), call([4, 5])];
  writes[0]!.end();
  await Promise.all(first);
  await eventually(() => writes.length === 2);
  writes[1]!.end();
  await Promise.all(second);
  expect(writes.map(({ items }) => items)).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
});

test('limits the items per write, unless a single call has more', async () => {
  const { writes, write } = manualStore();
  const call = writeBatcher(write, { ...limits, writesMax: 10 });
  const calls = [call([1, 2, 3]), call([4, 5]), call([6, 7, 8, 9, 10]), call([11])];
  await eventually(() => writes.length === 4);
  for (const { end } of writes) end();
  await Promise.all(calls);
  expect(writes.map(({ items }) => items)).toEqual([[1, 2, 3], [4, 5], [6, 7, 8, 9, 10], [11]]);
});

test('rejects the calls of a failed write and continues with the next', async () => {
  const { writes, write } = manualStore();
  const call = writeBatcher(write, limits);
  const failed = Promise.allSettled([call([1]), call([2])]);
  await eventually(() => writes.length === 1);
  const next = call([3]);
  writes[0]!.end(new Error('refused'));
  expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await eventually(() => writes.length === 2);
  writes[1]!.end();
  await next;
});

test('rejects calls while the queue is full', async () => {
  const { writes, write } = manualStore();
  const call = writeBatcher(write, { ...limits, itemsMax: 2 });
  const held = call([1, 2]);
  await expect(call([3])).rejects.toMatchObject({ code: 'unavailable' });
  await eventually(() => writes.length === 1);
  writes[0]!.end();
  await held;
  const later = call([4]);
  await eventually(() => writes.length === 2);
  writes[1]!.end();
  await later;
});
