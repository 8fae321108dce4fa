import { expect, test } from '@jest/globals';
import { batchCheck, batchLoader } from './batch-loader.ts';

/** A store whose reads end on the test's request. */
function slowStore(): {
  reads: number[][];
  read: (keys: number[]) => Promise<Map<number, string>>;
  answer: (error?: Error) => Promise<void>;
} {
  const reads: number[][] = [];
  const open: ((error?: Error) => void)[] = [];
  return {
    reads,
    read: (keys) =>
      new Promise((resolve, reject) => {
        reads.push(keys);
        open.push((error) =>
          error === undefined
            ? resolve(new Map(keys.filter((key) => key > 0).map((key) => [key, `value ${key}`])))
            : reject(error),
        );
      }),
    async answer(error) {
      open.shift()!(error);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('batches the keys of one tick into one read without duplicates', async () => {
  const { reads, read, answer } = slowStore();
  const find = batchLoader(read, 10);
  const asked = Promise.all([find(1), find(2), find(1), find(0)]);
  await turn();
  await answer();
  expect(await asked).toEqual(['value 1', 'value 2', 'value 1', undefined]);
  expect(reads).toEqual([[1, 2, 0]]);
});

test('serves calls during a read by the next read, even for the same key', async () => {
  const { reads, read, answer } = slowStore();
  const find = batchLoader(read, 10);
  const first = find(1);
  await turn();
  const later = Promise.all([find(1), find(3)]);
  await answer();
  expect(await first).toBe('value 1');
  expect(reads).toEqual([[1], [1, 3]]);
  await answer();
  expect(await later).toEqual(['value 1', 'value 3']);
});

test('splits many keys into several reads', async () => {
  const { reads, read, answer } = slowStore();
  const find = batchLoader(read, 2);
  const asked = Promise.all([1, 2, 3].map(find));
  await turn();
  await answer();
  await answer();
  expect(await asked).toEqual(['value 1', 'value 2', 'value 3']);
  expect(reads).toEqual([[1, 2], [3]]);
});

test('rejects only the calls of a failed read', async () => {
  const { read, answer } = slowStore();
  const find = batchLoader(read, 10);
  const asked = Promise.allSettled([find(1), find(2)]);
  await turn();
  const later = find(1);
  await answer(new Error('away'));
  expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await answer();
  expect(await later).toBe('value 1');
  const repeated = find(2);
  await turn();
  await answer();
  expect(await repeated).toBe('value 2');
});

test('a check asks once for the keys of one tick, and says yes to those that were found', async () => {
  const asked: number[][] = [];
  const isEven = batchCheck<number>((keys) => {
    asked.push(keys);
    return Promise.resolve(keys.filter((key) => key % 2 === 0));
  }, 10);
  expect(await Promise.all([isEven(1), isEven(2), isEven(1)])).toEqual([false, true, false]);
  expect(asked).toEqual([[1, 2]]);
});
