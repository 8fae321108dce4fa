import { batchLoader } from '@tocsin/shared/async/batch-loader.ts';
import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { freshMs, type ValueTimes } from './change-watch.ts';

interface Entry<V> extends ValueTimes {
  readonly value: V;
  currentAt: number;
}

/** Keys per load. */
const loadedAtOnce = 1_000;
/** For how long a value that was current stays in use while its store is down. */
const staleMs = 10 * 60_000;
/** How long a lookup with a usable cached value waits for the store to respond or fail. */
const patienceMs = 1_000;
/** For this long after its last failure lookups do not wait for the store; detecting a failure takes less time. */
const awayMs = 3_000;

/** How a cache loads values from the store. */
export interface Lookup<V> {
  load(this: void, key: string): Promise<V | null>;
  /**
   * Loads at most 1,000 keys; resolves with those that exist. `known` returns the cached value of a key, whatever its
   * age, whose ID may be needed to find it.
   */
  loadMany?(
    this: void,
    keys: readonly string[],
    known: (key: string) => V | undefined,
  ): Promise<ReadonlyMap<string, V>>;
  /** Whether `loadMany` finds every existing value without a cached one. Then unknown keys are loaded together too. */
  readonly findsUnknown?: boolean;
  /** Whether a value with these times is known to be current, so that its age does not matter. */
  isCurrent?(this: void, value: V, times: ValueTimes): boolean;
}

/** Shared state of lookups in the same store: once one finds it down, the others do not wait. */
export class StoreWatch {
  #awayUntil = -Infinity;

  get isAway(): boolean {
    return performance.now() < this.#awayUntil;
  }

  foundAway(): void {
    this.#awayUntil = performance.now() + awayMs;
  }

  foundThere(): void {
    this.#awayUntil = -Infinity;
  }
}

/**
 * A bounded cache of store lookups. A value was current at most 1.8 s ago, or 10 minutes while the store is
 * `unavailable` or unresponsive. Absent values are not cached, so that new objects are usable immediately on every
 * node. Concurrent lookups of a key share one load, and keys that one query can find are loaded together. While the
 * store is down, known values are returned without waiting, and one load at a time retries in the background.
 */
export class CachedLookup<V> {
  readonly #load: (key: string) => Promise<V | null>;
  readonly #loadTogether: ((key: string) => Promise<V | undefined>) | undefined;
  readonly #findsUnknown: boolean;
  readonly #isCurrent: (value: V, times: ValueTimes) => boolean;
  readonly #clock: Clock;
  readonly #sizeMax: number;
  #extraSize = 0;
  readonly #watch: StoreWatch;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #loading = new Map<string, Promise<V | null>>();

  constructor(options: Lookup<V> & { clock: Clock; sizeMax?: number; watch?: StoreWatch }) {
    this.#load = options.load;
    const { loadMany } = options;
    const known = (key: string) => this.#entries.get(key)?.value;
    this.#loadTogether = loadMany && batchLoader((keys) => loadMany(keys, known), loadedAtOnce);
    this.#findsUnknown = options.findsUnknown ?? false;
    this.#isCurrent = options.isCurrent ?? (() => false);
    this.#clock = options.clock;
    this.#sizeMax = options.sizeMax ?? 20_000;
    this.#watch = options.watch ?? new StoreWatch();
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns the value while it is fresh; undefined means to call `get`. For paths where a promise per call is too
   * expensive.
   */
  peek(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#isFresh(key, entry) ? entry.value : undefined;
  }

  async get(key: string): Promise<V | null> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return this.#loaded(key);
    if (this.#isFresh(key, entry)) return entry.value;
    if (this.#clock() - entry.currentAt >= staleMs) return this.#loaded(key);
    if (!this.#watch.isAway) return this.#loadedSoon(key, entry.value);
    if (this.#loading.size === 0) this.#loaded(key).catch(() => undefined); // only checks whether the store is back
    return entry.value;
  }

  /**
   * Loads the keys beyond the given age in batches, so that a check of many keys does not read each. Skips values that
   * are known to be current. Resolves when done, also if the store is down: then known values stay in use.
   */
  async refresh(keys: Iterable<string>, olderThanMs: number): Promise<void> {
    const loadTogether = this.#loadTogether;
    if (loadTogether === undefined || this.#watch.isAway) return;
    const due = this.#clock() - olderThanMs;
    const isDue = (entry: Entry<V> | undefined) =>
      entry === undefined || (entry.loadedAt < due && !this.#isCurrent(entry.value, entry));
    const stale = [...new Set(keys)].filter((key) => isDue(this.#entries.get(key)));
    const load = async (key: string) => (await loadTogether(key)) ?? null;
    for (let at = 0; at < stale.length; at += loadedAtOnce) {
      const batch = stale.slice(at, at + loadedAtOnce);
      await Promise.all(batch.map((key) => this.#loaded(key, load).catch(() => undefined)));
    }
  }

  /** Caches this many values in addition to the maximum: those that are refreshed together. */
  makeRoom(count: number): void {
    this.#extraSize = count;
    this.#shrink();
  }

  /** Invalidates the key: the next lookup reads the store. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#loading.delete(key);
  }

  #isFresh(key: string, entry: Entry<V>): boolean {
    const now = this.#clock();
    if (now - entry.loadedAt < freshMs) return true;
    if (!this.#isCurrent(entry.value, entry)) return false;
    if (now - entry.currentAt < freshMs) return true;
    // Values in use move to the end, so that the cache drops others first.
    entry.currentAt = now;
    this.#keep(key, entry);
    return true;
  }

  #read(key: string): Promise<V | null> {
    if (this.#loadTogether === undefined) return this.#load(key);
    if (this.#findsUnknown) return this.#loadTogether(key).then((found) => found ?? null);
    if (!this.#entries.has(key)) return this.#load(key);
    // A batch lacks a known value that was removed or has another key.
    return this.#loadTogether(key).then((found) => found ?? this.#load(key));
  }

  #loaded(key: string, load = (missing: string) => this.#read(missing)): Promise<V | null> {
    const underWay = this.#loading.get(key);
    if (underWay !== undefined) return underWay;
    const isCurrent = () => this.#loading.get(key) === loading;
    const loading: Promise<V | null> = this.#loadAndKeep(key, isCurrent, load).finally(() => {
      if (isCurrent()) this.#loading.delete(key);
    });
    this.#loading.set(key, loading);
    return loading;
  }

  /** Returns the store's value, or the cached one if that takes too long. */
  async #loadedSoon(key: string, known: V): Promise<V | null> {
    const loading = this.#loaded(key);
    const late = Promise.withResolvers<V>();
    const timer = setTimeout(() => {
      this.#watch.foundAway();
      late.resolve(known);
    }, patienceMs);
    try {
      return await Promise.race([loading, late.promise]);
    } finally {
      clearTimeout(timer);
      loading.catch(() => undefined); // ignore a late failure
    }
  }

  /** `isCurrent`: whether the key was not invalidated since this load began. */
  async #loadAndKeep(
    key: string,
    isCurrent: () => boolean,
    load: (key: string) => Promise<V | null>,
  ): Promise<V | null> {
    const startedAt = this.#clock();
    const before = this.#entries.get(key);
    try {
      const value = await load(key);
      this.#watch.foundThere();
      // A key invalidated during its load may have changed: return the value without caching it.
      if (value === null) this.#entries.delete(key);
      else if (isCurrent()) this.#keep(key, { value, loadedAt: startedAt, currentAt: startedAt });
      return value;
    } catch (error) {
      const isAway = isUnavailable(error);
      if (isAway) this.#watch.foundAway();
      if (isAway && isCurrent() && before !== undefined && startedAt - before.currentAt < staleMs) return before.value;
      throw error;
    }
  }

  #keep(key: string, entry: Entry<V>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#shrink();
  }

  #shrink(): void {
    let excess = this.#entries.size - this.#sizeMax - this.#extraSize;
    if (excess <= 0) return; // an iterator would pass all values that were replaced
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      excess -= 1;
      if (excess === 0) return;
    }
  }
}
