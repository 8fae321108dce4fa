import { expect, test } from '@jest/globals';
import { ReadCache, type ReadCacheOptions } from './read-cache.ts';

function keeper(given: { storage?: ReadCacheOptions<string>['storage']; sizeMax?: number } = {}) {
  let writes = 0;
  let loads = 0;
  const kept = new ReadCache<string>({
    storage: given.storage ?? { changeStamp: () => String(writes) },
    collections: [{ name: 'things' }],
    sizeOf: (value) => value.length,
    sizeMax: given.sizeMax ?? 100,
  });
  return {
    write: () => (writes += 1),
    loads: () => loads,
    get: (key: string, value = key) =>
      kept.get(key, async () => {
        loads += 1;
        return value;
      }),
    fail: (key: string) => kept.get(key, () => Promise.reject(new Error('away'))),
  };
}

test('caches reads until a write', async () => {
  const { get, write, loads } = keeper();
  expect(await get('a', 'first')).toBe('first');
  expect(await get('a', 'second')).toBe('first');
  expect(await get('b')).toBe('b');
  expect(loads()).toBe(2);
  write();
  expect(await get('a', 'third')).toBe('third');
});

test('a write during a read invalidates its result', async () => {
  const { get, write } = keeper();
  const reading = get('a', 'before');
  write();
  expect(await reading).toBe('before');
  expect(await get('a', 'after')).toBe('after');
});

test('concurrent callers share a read', async () => {
  const { get, loads } = keeper();
  await Promise.all([get('a'), get('a'), get('a')]);
  expect(loads()).toBe(1);
});

test('does not cache if the store cannot report writes', async () => {
  const { get, loads } = keeper({ storage: {} });
  expect([await get('a', 'first'), await get('a', 'second')]).toEqual(['first', 'second']);
  expect(loads()).toBe(2);
});

test('does not cache failed reads', async () => {
  const { get, fail } = keeper();
  await expect(fail('a')).rejects.toThrow('away');
  expect(await get('a')).toBe('a');
});

test('respects the size limit', async () => {
  const { get, loads } = keeper({ sizeMax: 5 });
  for (const key of ['aaaa', 'bbbb', 'aaaa', 'bbbb']) await get(key);
  expect(loads()).toBe(3);
});
