import { expect, test } from '@jest/globals';
import { TookTooLong, within } from './within.ts';

test('what settles in time is the outcome', async () => {
  expect(await within(60_000, 'an answer', Promise.resolve(7))).toBe(7);
  const failure = new Error('no');
  await expect(within(60_000, 'an answer', Promise.reject(failure))).rejects.toBe(failure);
});

test('what does not settle in time is an error that says what was waited for, and may fail later', async () => {
  const late = Promise.withResolvers<number>();
  const error: unknown = await within(5, 'the answer', late.promise).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TookTooLong);
  expect(error).toMatchObject({ message: 'the answer took longer than 5 ms' });
  late.reject(new Error('no'));
});
