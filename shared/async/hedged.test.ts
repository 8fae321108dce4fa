import { expect, test } from '@jest/globals';
import { hedged } from './hedged.ts';

const never = (): Promise<never> => new Promise(() => undefined);
const long = 60_000;

test('resolves with the first attempt without starting others', async () => {
  let started = 0;
  const attempt = (value: string) => () => {
    started += 1;
    return Promise.resolve(value);
  };
  expect(await hedged([attempt('first'), attempt('second')], 0)).toBe('first');
  expect(started).toBe(1);
});

test('starts the next attempt while the previous one does not settle', async () => {
  expect(await hedged([never, never, () => Promise.resolve('third')], 1)).toBe('third');
});

test('starts the next attempt immediately after a failure', async () => {
  const fails = () => Promise.reject(new Error('refused'));
  expect(await hedged([fails, () => Promise.resolve('second')], long)).toBe('second');
});

test('rejects with the last failure if all attempts fail', async () => {
  const late = Promise.withResolvers<never>();
  const outcome = hedged([() => late.promise, () => Promise.reject(new Error('second'))], 1);
  const settled = outcome.catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 20)); // the second attempt fails first
  late.reject(new Error('first'));
  expect(await settled).toEqual(new Error('first'));
});

test('rejects without attempts', async () => {
  await expect(hedged([], 1)).rejects.toThrow('nothing to attempt');
});
