import { expect, test } from '@jest/globals';
import { startConcurrently } from './start-concurrently.ts';

test('returns the started parts in the given order', async () => {
  const slow = { name: 'slow', stop: () => Promise.resolve() };
  const quick = { name: 'quick', stop: () => Promise.resolve() };
  const later = new Promise<typeof slow>((resolve) => setImmediate(resolve, slow));
  expect(await startConcurrently([later, Promise.resolve(quick)])).toEqual([slow, quick]);
});

test('stops all started parts if one fails, and throws every error', async () => {
  const stopped: string[] = [];
  const one = (name: string) => ({ stop: () => Promise.resolve(stopped.push(name)) });
  const later = new Promise<ReturnType<typeof one>>((resolve) => setImmediate(resolve, one('later')));
  const failing = [Promise.reject(new Error('no disk')), Promise.reject(new Error('no port'))] as Promise<
    ReturnType<typeof one>
  >[];
  const starting = startConcurrently([Promise.resolve(one('first')), ...failing, later]);
  await expect(starting).rejects.toThrow('no disk; no port');
  expect(stopped).toEqual(['first', 'later']);
});
