import { AppError } from '../domain/errors.ts';
import type { Clock } from './clock.ts';

interface Entry<V> {
  value: V;
  loadedAt: number;
}

/** How old a value may be while its store answers. */
const freshMs = 5_000;
/** How old a value may be while its store is away: what is known serves on, but not for ever. */
const staleMs = 10 * 60_000;

/**
 * A bounded cache in front of a store's lookup. A value is at most 5 s old, or 10 minutes while the store is
 * `unavailable`; absent values are not kept, so that what is created can be used at once on every node.
 * Concurrent lookups of one key share one load.
 */
export class CachedLookup<V> {
  readonly #load: (key: string) => Promise<V | null>;
  readonly #clock: Clock;
  readonly #sizeMax: number;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #loading = new Map<string, Promise<V | null>>();

  constructor(options: { load: (key: string) => Promise<V | null>; clock: Clock; sizeMax?: number }) {
    this.#load = options.load;
    this.#clock = options.clock;
    this.#sizeMax = options.sizeMax ?? 20_000;
  }

  /** The value while it is fresh; undefined asks for `get`. For paths where a promise per call is too much. */
  peek(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#clock() - entry.loadedAt < freshMs ? entry.value : undefined;
  }

  async get(key: string): Promise<V | null> {
    const fresh = this.peek(key);
    if (fresh !== undefined) return fresh;
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      loading = this.#refresh(key).finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
    }
    return loading;
  }

  /** Forgets the key: the next lookup asks the store. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#loading.delete(key);
  }

  async #refresh(key: string): Promise<V | null> {
    const startedAt = this.#clock();
    const before = this.#entries.get(key);
    try {
      const value = await this.#load(key);
      // A key that was forgotten while it loaded may have changed meanwhile: what was read is answered, not kept.
      if (value === null) this.#entries.delete(key);
      else if (this.#loading.has(key)) this.#keep(key, { value, loadedAt: startedAt });
      return value;
    } catch (error) {
      const isAway = error instanceof AppError && error.code === 'unavailable';
      if (isAway && before !== undefined && startedAt - before.loadedAt < staleMs) return before.value;
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
