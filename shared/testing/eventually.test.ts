import { expect, test } from '@jest/globals';
import { eventually } from './eventually.ts';

test('returns the value of a condition that holds immediately', async () => {
  expect(await eventually(() => 'ready')).toBe('ready');
});

test('waits for a condition that holds later', async () => {
  let looks = 0;
  await eventually(() => ++looks === 3, { intervalMs: 1 });
  expect(looks).toBe(3);
});

test('retries a failed assertion until it passes', async () => {
  let looks = 0;
  await eventually(
    () => {
      looks += 1;
      expect(looks).toBeGreaterThan(2);
    },
    { intervalMs: 1 },
  );
});

test('throws at the deadline with the last failure as cause', async () => {
  const failure = new Error('two of three arrived');
  const waiting = eventually(() => Promise.reject(failure), { timeoutMs: 20, intervalMs: 1 });
  await expect(waiting).rejects.toThrow('Did not hold within 20 ms. Last failure: two of three arrived');
  await expect(waiting).rejects.toMatchObject({ cause: failure });
});

test('ends a hanging condition at the deadline', async () => {
  const waiting = eventually(() => new Promise<boolean>(() => {}), { timeoutMs: 20 });
  await expect(waiting).rejects.toThrow('the condition did not return in time');
});

test('shows the last failure if the condition hangs afterwards', async () => {
  let looks = 0;
  const waiting = eventually(
    () => (++looks === 1 ? Promise.reject(new Error('refused')) : new Promise<boolean>(() => {})),
    { timeoutMs: 30, intervalMs: 1 },
  );
  await expect(waiting).rejects.toThrow('refused');
});
