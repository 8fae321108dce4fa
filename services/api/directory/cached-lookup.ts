import { isUnavailable } from '@tocsin/shared/domain/errors.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';

interface Entry<V> {
  value: V;
  loadedAt: number;
}

/**
 * How old a value may be while its store answers. What ended without a word on the bus ends open streams at their next
 * look, so both together stay below the five seconds that are promised.
 */
const freshMs = 2_500;
/** Keys loaded at once. */
const loadedAtOnce = 1_000;
/** How old a value may be while its store is away: what is known serves on, but not for ever. */
const staleMs = 10 * 60_000;
/** Whoever has a value that may serve on waits this long for the store to answer or to say that it is away. */
const patienceMs = 1_000;
/** For this long after the last sign of its absence a store is not waited for; it takes less to find one that is away. */
const awayMs = 3_000;

/** What lookups in the same store tell each other: when one has found it away, the others need not wait to find out. */
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
 * A bounded cache in front of a store's lookup. A value is at most 2.5 s old, or 10 minutes while the store is
 * `unavailable` or silent; absent values are not kept, so that what is created can be used at once on every node.
 * Concurrent lookups of one key share one load. While the store is away a known value is answered without waiting, and
 * one load at a time goes on asking behind it.
 */
export class CachedLookup<V> {
  readonly #load: (key: string) => Promise<V | null>;
  readonly #loadMany: ((keys: readonly string[]) => Promise<ReadonlyMap<string, V>>) | undefined;
  readonly #clock: Clock;
  readonly #sizeMax: number;
  readonly #watch: StoreWatch;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #loading = new Map<string, Promise<V | null>>();

  constructor(options: {
    load: (key: string) => Promise<V | null>;
    /** The values of those keys that have one; for `refresh`. At most 1,000 keys. */
    loadMany?: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;
    clock: Clock;
    sizeMax?: number;
    watch?: StoreWatch;
  }) {
    this.#load = options.load;
    this.#loadMany = options.loadMany;
    this.#clock = options.clock;
    this.#sizeMax = options.sizeMax ?? 20_000;
    this.#watch = options.watch ?? new StoreWatch();
  }

  /** The value while it is fresh; undefined asks for `get`. For paths where a promise per call is too much. */
  peek(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#clock() - entry.loadedAt < freshMs ? entry.value : undefined;
  }

  async get(key: string): Promise<V | null> {
    const entry = this.#entries.get(key);
    const age = entry === undefined ? Infinity : this.#clock() - entry.loadedAt;
    if (age < freshMs) return entry!.value;
    if (age >= staleMs) return this.#loaded(key);
    if (!this.#watch.isAway) return this.#loadedSoon(key, entry!.value);
    if (this.#loading.size === 0) this.#loaded(key).catch(() => undefined); // it only finds out whether the store is back
    return entry!.value;
  }

  /**
   * Loads what is older than the age of the keys, together, so that a round over many does not ask for each. Resolves when
   * that is done, also when the store is away: what is known then serves on as ever.
   */
  async refresh(keys: Iterable<string>, olderThanMs: number): Promise<void> {
    if (this.#loadMany === undefined || this.#watch.isAway) return;
    const due = this.#clock() - olderThanMs;
    const stale = [...new Set(keys)].filter((key) => (this.#entries.get(key)?.loadedAt ?? -Infinity) < due);
    for (let at = 0; at < stale.length; at += loadedAtOnce) {
      const batch = stale.slice(at, at + loadedAtOnce);
      let loading: Promise<ReadonlyMap<string, V>> | undefined;
      // Those that someone else is loading at the moment are not asked for again.
      const load = async (key: string) => (await (loading ??= this.#loadMany!(batch))).get(key) ?? null;
      await Promise.all(batch.map((key) => this.#loaded(key, load).catch(() => undefined)));
    }
  }

  /** Forgets the key: the next lookup asks the store. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#loading.delete(key);
  }

  #loaded(key: string, load = this.#load): Promise<V | null> {
    const underWay = this.#loading.get(key);
    if (underWay !== undefined) return underWay;
    const isCurrent = () => this.#loading.get(key) === loading;
    const loading: Promise<V | null> = this.#loadAndKeep(key, isCurrent, load).finally(() => {
      if (isCurrent()) this.#loading.delete(key);
    });
    this.#loading.set(key, loading);
    return loading;
  }

  /** The store's value, or the known one when that takes too long. */
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
      loading.catch(() => undefined); // a late failure is nobody's any more
    }
  }

  /** `isCurrent` says whether the key was not forgotten since this load began. */
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
      // A key that was forgotten while it loaded may have changed meanwhile: what was read is answered, not kept.
      if (value === null) this.#entries.delete(key);
      else if (isCurrent()) this.#keep(key, { value, loadedAt: startedAt });
      return value;
    } catch (error) {
      const isAway = isUnavailable(error);
      if (isAway) this.#watch.foundAway();
      if (isAway && isCurrent() && before !== undefined && startedAt - before.loadedAt < staleMs) return before.value;
      throw error;
    }
  }

  #keep(key: string, entry: Entry<V>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#sizeMax) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}
