import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AppError, unavailable } from '@tocsin/shared/domain/errors.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { CachedLookup } from './cached-lookup.ts';

/** A store whose responses the test controls. */
class Store {
  readonly asked: string[] = [];
  readonly waiting: PromiseWithResolvers<string | null>[] = [];
  mode: 'answers' | 'away' | 'silent' = 'answers';
  value: string | null = 'first';

  load = (key: string): Promise<string | null> => {
    this.asked.push(key);
    if (this.mode === 'away') return Promise.reject(unavailable('Database'));
    if (this.mode === 'answers') return Promise.resolve(this.value);
    const answer = Promise.withResolvers<string | null>();
    this.waiting.push(answer);
    return answer.promise;
  };
}

describe('a cached lookup', () => {
  let now: number;
  let store: Store;
  let lookup: CachedLookup<string>;
  beforeEach(() => {
    now = 0;
    store = new Store();
    lookup = new CachedLookup({ load: store.load, clock: () => now });
  });
  const later = async (ms: number, value: string | null = 'second') => {
    await lookup.get('key');
    now += ms;
    store.value = value;
  };

  test('returns cached values for 1.8 seconds, then reads again', async () => {
    await later(1_799);
    expect(await lookup.get('key')).toBe('first');
    now += 1;
    expect(await lookup.get('key')).toBe('second');
    expect(store.asked).toHaveLength(2);
  });

  test('returns values that are known to be current whatever their age, then reads again', async () => {
    let isCurrent = true;
    const asked: (readonly [string, number, number])[] = [];
    const loads: (readonly string[])[] = [];
    lookup = new CachedLookup({
      load: store.load,
      loadMany: (keys) => {
        loads.push(keys);
        return Promise.resolve(new Map([['key', 'second']]));
      },
      clock: () => now,
      isCurrent: (value, { loadedAt, currentAt }) => {
        asked.push([value, loadedAt, currentAt]);
        return isCurrent;
      },
    });
    now = 5;
    await later(60_000);
    expect(await lookup.get('key')).toBe('first');
    expect(lookup.peek('key')).toBe('first');
    await lookup.refresh(['key'], 1_000);
    expect(asked).toEqual([
      ['first', 5, 5],
      ['first', 5, now],
      ['first', 5, now],
    ]);
    expect(loads).toEqual([]);
    isCurrent = false;
    expect(lookup.peek('key')).toBeUndefined();
    expect(await lookup.get('key')).toBe('second');
    expect(loads).toEqual([['key']]);
  });

  test('returns values for ten minutes after they were known to be current while the store is down', async () => {
    let isCurrent = true;
    lookup = new CachedLookup({ load: store.load, clock: () => now, isCurrent: () => isCurrent });
    await later(500_000);
    await lookup.get('key');
    isCurrent = false;
    store.mode = 'away';
    now += 599_999;
    expect(await lookup.get('key')).toBe('first');
    now += 1;
    await expect(lookup.get('key')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('drops the values first that were not in use', async () => {
    lookup = new CachedLookup({ load: store.load, clock: () => now, isCurrent: () => true, sizeMax: 2 });
    for (const key of ['used', 'unused']) await lookup.get(key);
    now += 1_800;
    expect(lookup.peek('used')).toBe('first');
    await lookup.get('new');
    expect(['used', 'unused', 'new'].map((key) => lookup.peek(key) !== undefined)).toEqual([true, false, true]);
  });

  test('reads again for absent values', async () => {
    store.value = null;
    expect(await lookup.get('key')).toBeNull();
    store.value = 'made';
    expect(await lookup.get('key')).toBe('made');
  });

  test('returns cached values for at most ten minutes while the store is down', async () => {
    await later(599_999);
    store.mode = 'away';
    expect(await lookup.get('key')).toBe('first');
    now += 1;
    await expect(lookup.get('key')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('fails for unknown keys while the store is down', async () => {
    store.mode = 'away';
    await expect(lookup.get('key')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('waits at most a second, once, for an unresponsive store and continues in the background', async () => {
    await later(2_500);
    store.mode = 'silent';
    const begun = performance.now();
    expect(await lookup.get('key')).toBe('first');
    expect(performance.now() - begun).toBeGreaterThan(900);
    const again = performance.now();
    for (let n = 0; n < 50; n += 1) expect(await lookup.get('key')).toBe('first');
    expect(performance.now() - again).toBeLessThan(900);
    expect(store.asked).toHaveLength(2);
    store.waiting[0]!.resolve('second');
    await eventually(async () => (await lookup.get('key')) === 'second');
  });

  test('does not wait for a store that reported to be down, and gets new values soon after its return', async () => {
    await later(2_500);
    store.mode = 'away';
    await lookup.get('key');
    store.mode = 'silent';
    for (let n = 0; n < 50; n += 1)
      expect(await Promise.race([lookup.get('key'), nextTurn('waits for the store')])).toBe('first');
    store.mode = 'answers';
    for (const { resolve } of store.waiting) resolve('second');
    await eventually(async () => (await lookup.get('key')) === 'second');
  });

  test('invalidates immediately, including loads in progress', async () => {
    store.mode = 'silent';
    const before = lookup.get('key');
    lookup.forget('key');
    const after = lookup.get('key');
    store.waiting[1]!.resolve('new');
    expect(await after).toBe('new');
    store.waiting[0]!.resolve('old');
    expect(await before).toBe('old');
    expect(lookup.peek('key')).toBe('new');
  });

  test('does not return invalidated values while the store is down', async () => {
    await later(2_500);
    store.mode = 'silent';
    const asked = lookup.get('key');
    lookup.forget('key');
    store.waiting[0]!.reject(unavailable('Database'));
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('rethrows other errors', async () => {
    await later(2_500);
    const broken = new CachedLookup<string>({
      load: () => Promise.reject(new AppError('invalid', 'no')),
      clock: () => now,
    });
    await expect(broken.get('key')).rejects.toMatchObject({ code: 'invalid' });
  });

  test('refreshes many keys in one load: those beyond the age, except loads in progress', async () => {
    const asked: string[][] = [];
    const many = new CachedLookup<string>({
      load: (key) => Promise.resolve(`${key} alone`),
      clock: () => now,
      loadMany: (keys) => {
        asked.push([...keys]);
        return Promise.resolve(new Map(keys.filter((key) => key !== 'gone').map((key) => [key, `${key} with others`])));
      },
    });
    await many.get('old');
    now += 1_000;
    await many.get('young');
    now += 1;
    await many.refresh(['old', 'young', 'new', 'gone', 'new'], 1_000);
    expect(asked).toEqual([['old', 'new', 'gone']]);
    expect(['old', 'young', 'new', 'gone'].map((key) => many.peek(key))).toEqual([
      'old with others',
      'young alone',
      'new with others',
      undefined,
    ]);
    await many.refresh(['old'], 1_000);
    expect(asked.length).toBe(1);
  });

  test('reads known keys of one tick again in one load, and those that it does not find alone', async () => {
    const asked: string[][] = [];
    const values = new Map([
      ['a', 'one'],
      ['b', 'two'],
      ['moved', 'three'],
    ]);
    const many = new CachedLookup<string>({
      load: (key) => {
        asked.push([`${key} alone`]);
        return Promise.resolve(values.get(key) ?? null);
      },
      clock: () => now,
      loadMany: (keys, known) => {
        asked.push(keys.map((key) => `${key} ${known(key)}`));
        return Promise.resolve(new Map(keys.filter((key) => key !== 'moved').map((key) => [key, `${key} again`])));
      },
    });
    const getAll = () => Promise.all([...values.keys()].map((key) => many.get(key)));
    await getAll();
    now += 1_800;
    expect(await getAll()).toEqual(['a again', 'b again', 'three']);
    expect(asked).toEqual([
      ['a alone'],
      ['b alone'],
      ['moved alone'],
      ['a one', 'b two', 'moved three'],
      ['moved alone'],
    ]);
  });

  test('reads unknown keys of one tick in one load if the batch finds every existing value', async () => {
    const asked: string[][] = [];
    const many = new CachedLookup<string>({
      load: (key) => {
        asked.push([`${key} alone`]);
        return Promise.resolve(key);
      },
      clock: () => now,
      loadMany: (keys) => {
        asked.push([...keys]);
        return Promise.resolve(new Map(keys.filter((key) => key !== 'absent').map((key) => [key, key])));
      },
      findsUnknown: true,
    });
    expect(await Promise.all(['a', 'absent', 'b', 'a'].map((key) => many.get(key)))).toEqual(['a', null, 'b', 'a']);
    expect(asked).toEqual([['a', 'absent', 'b']]);
  });

  test('keeps more values than its maximum while there is room for keys that are refreshed together', async () => {
    const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`);
    let loads = 0;
    const many = new CachedLookup<string>({
      load: (key) => {
        loads += 1;
        return Promise.resolve(key);
      },
      loadMany: (some) => Promise.resolve(new Map(some.map((key) => [key, key]))),
      clock: () => now,
      sizeMax: 10,
    });
    many.makeRoom(keys.length);
    await many.refresh(keys, 0);
    for (const key of keys) await many.get(key);
    expect(loads).toBe(0);
    many.makeRoom(0);
    expect(keys.filter((key) => many.peek(key) !== undefined)).toHaveLength(10);
  });

  test('does not cache keys invalidated during a batch load', async () => {
    const answer = Promise.withResolvers<Map<string, string>>();
    const many = new CachedLookup<string>({
      load: () => Promise.resolve('new'),
      loadMany: () => answer.promise,
      clock: () => now,
    });
    const refreshed = many.refresh(['key'], 0);
    many.forget('key');
    answer.resolve(new Map([['key', 'old']]));
    await refreshed;
    expect(many.peek('key')).toBeUndefined();
    expect(await many.get('key')).toBe('new');
  });

  test('a failed batch load leaves keys unchanged', async () => {
    const many = new CachedLookup<string>({
      load: store.load,
      loadMany: () => Promise.reject(unavailable('Database')),
      clock: () => now,
    });
    await many.get('key');
    now += 2_500;
    await many.refresh(['key', 'other'], 0);
    store.mode = 'away';
    expect(await many.get('key')).toBe('first');
  });
});
