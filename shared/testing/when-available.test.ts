import { expect, test } from '@jest/globals';
import { unavailable } from '../domain/errors.ts';
import { whenAvailable } from './when-available.ts';

/** Fails with each error in turn, then returns. */
const opening = (errors: Error[]) => async () => {
  const error = errors.shift();
  if (error !== undefined) throw error;
  return 'open';
};

test('tries again while the store is unavailable', async () => {
  expect(await whenAvailable(opening([unavailable('Database'), unavailable('Database')]))).toBe('open');
});

test('throws every other error immediately', async () => {
  const open = opening([new TypeError('a bug')]);
  await expect(whenAvailable(open)).rejects.toThrow('a bug');
  expect(await open()).toBe('open');
});

test('gives up after ten attempts', async () => {
  const errors = Array.from({ length: 11 }, () => unavailable('Database'));
  await expect(whenAvailable(opening(errors))).rejects.toThrow('Database is unavailable');
  expect(errors).toHaveLength(1);
});
