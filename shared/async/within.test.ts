import { expect, test } from '@jest/globals';
import { TookTooLong, within } from './within.ts';

test('returns the outcome of a promise that settles in time', async () => {
  expect(await within(60_000, 'an answer', Promise.resolve(7))).toBe(7);
  const failure = new Error('no');
  await expect(within(60_000, 'an answer', Promise.reject(failure))).rejects.toBe(failure);
});

test('rejects after the timeout with an error that names the operation, and ignores a later failure', async () => {
  const late = Promise.withResolvers<number>();
  const error: unknown = await within(5, 'the answer', late.promise).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TookTooLong);
  expect(error).toMatchObject({ message: 'the answer took longer than 5 ms' });
  late.reject(new Error('no'));
});
