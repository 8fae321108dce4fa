import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ArchiveStore } from '../../ports/archive-store.ts';

/** A store with a place of its own. */
export interface ArchivePlace {
  readonly store: ArchiveStore;
  remove(): Promise<void>;
}

/** The contract of every archive store, with a new place for each test. */
export function archiveStoreContract(name: string, newPlace: () => Promise<ArchivePlace>): void {
  describe(`${name}: the archive store's contract`, () => {
    let place: ArchivePlace;
    let store: ArchiveStore;
    beforeEach(async () => {
      place = await newPlace();
      store = place.store;
    });
    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    test('returns an object as it was written, and null for a missing one', async () => {
      await store.put('topics/a/1-x.json', bodyOf('one ', 'two'));
      expect(await textOf(store, 'topics/a/1-x.json')).toBe('one two');
      expect(await textOf(store, 'topics/a/2-x.json')).toBeNull();
      expect(await textOf(store, 'topics/a')).toBeNull();
    });

    test('keeps an empty object and one of many parts', async () => {
      const pieces = Array.from({ length: 20 }, (_, index) => Buffer.alloc(1024 * 1024, index));
      await store.put('empty', bodyOf());
      await store.put('large', bodyOf(...pieces));
      expect(await textOf(store, 'empty')).toBe('');
      expect((await bytesOf(store, 'large'))!.equals(Buffer.concat(pieces))).toBe(true);
    });

    test('replaces an object, also while it is written twice', async () => {
      await store.put('topics/a/1', bodyOf('old'));
      await Promise.all([store.put('topics/a/1', bodyOf('new')), store.put('topics/a/1', bodyOf('new'))]);
      expect(await textOf(store, 'topics/a/1')).toBe('new');
      expect(await keysOf(store, '')).toEqual(['topics/a/1']);
    });

    test('writes nothing if the body fails, rethrows its error, and keeps the earlier object', async () => {
      const failing = async function* () {
        yield Buffer.alloc(12 * 1024 * 1024);
        await Promise.reject(new RangeError('of the body'));
      };
      await store.put('kept', bodyOf('kept'));
      for (const key of ['kept', 'topics/a/1']) await expect(store.put(key, failing())).rejects.toThrow(RangeError);
      expect(await keysOf(store, '')).toEqual(['kept']);
      expect(await textOf(store, 'kept')).toBe('kept');
    });

    test('lists the keys of a prefix in the order of their characters', async () => {
      const keys = ['topics/a-b/1', 'topics/a/1', 'topics/a/2', 'topics/a.json', 'topics/B/1', 'topic'];
      for (const key of keys) await store.put(key, bodyOf(key));
      expect(await keysOf(store, '')).toEqual([...keys].sort());
      expect(await keysOf(store, 'topics/a/')).toEqual(['topics/a/1', 'topics/a/2']);
      expect(await keysOf(store, 'topics/a')).toEqual(['topics/a-b/1', 'topics/a.json', 'topics/a/1', 'topics/a/2']);
      expect(await keysOf(store, 'topics/z/')).toEqual([]);
    });

    test('removes an object; again is no error', async () => {
      await store.put('topics/a/1', bodyOf('one'));
      await store.put('topics/a/2', bodyOf('two'));
      expect([await store.remove('topics/a/1'), await store.remove('topics/a/1')]).toEqual(['removed', 'removed']);
      expect(await keysOf(store, '')).toEqual(['topics/a/2']);
    });

    test('rejects keys that could leave the place', async () => {
      for (const key of ['', '../a', 'a/../b', '/a', 'a//b', 'a/', '.a', 'a/.b', 'a\\b', 'a b', 'ä', 'a\0', 'a\n']) {
        await expect(async () => store.put(key, bodyOf('x'))).rejects.toThrow(TypeError);
        await expect(async () => store.get(key)).rejects.toThrow(TypeError);
        await expect(async () => store.remove(key)).rejects.toThrow(TypeError);
      }
    });
  });
}

async function* bodyOf(...pieces: (string | Uint8Array)[]): AsyncGenerator<Uint8Array, void> {
  for (const piece of pieces) yield await Promise.resolve(Buffer.from(piece));
}

async function bytesOf(store: ArchiveStore, key: string): Promise<Buffer | null> {
  const body = await store.get(key);
  return body === null ? null : Buffer.concat(await allOf(body));
}

const textOf = async (store: ArchiveStore, key: string): Promise<string | null> =>
  (await bytesOf(store, key))?.toString() ?? null;

const keysOf = (store: ArchiveStore, prefix: string): Promise<string[]> => allOf(store.list(prefix));

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
