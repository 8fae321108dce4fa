import { expect, test } from '@jest/globals';
import { eventually } from './eventually.ts';

test('a condition that holds at once returns its value', async () => {
  expect(await eventually(() => 'ready')).toBe('ready');
});

test('a condition that turns true later is awaited', async () => {
  let looks = 0;
  await eventually(() => ++looks === 3, { intervalMs: 1 });
  expect(looks).toBe(3);
});

test('a failed assertion is tried again until it passes', async () => {
  let looks = 0;
  await eventually(
    () => {
      looks += 1;
      expect(looks).toBeGreaterThan(2);
    },
    { intervalMs: 1 },
  );
});

test('the error at the deadline shows the last failure and carries it as its cause', async () => {
  const failure = new Error('two of three arrived');
  const waiting = eventually(() => Promise.reject(failure), { timeoutMs: 20, intervalMs: 1 });
  await expect(waiting).rejects.toThrow('Did not hold within 20 ms. Last failure: two of three arrived');
  await expect(waiting).rejects.toMatchObject({ cause: failure });
});

test('a condition that never answers ends at the deadline', async () => {
  const waiting = eventually(() => new Promise<boolean>(() => {}), { timeoutMs: 20 });
  await expect(waiting).rejects.toThrow('the condition did not answer');
});

test('a condition that hangs after a failure keeps that failure in the error', async () => {
  let looks = 0;
  const waiting = eventually(
    () => (++looks === 1 ? Promise.reject(new Error('refused')) : new Promise<boolean>(() => {})),
    { timeoutMs: 30, intervalMs: 1 },
  );
  await expect(waiting).rejects.toThrow('refused');
});
