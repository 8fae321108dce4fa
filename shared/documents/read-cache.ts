import type { StorageFeatures } from '../ports/engine.ts';

export interface ReadCacheOptions<V> {
  readonly storage: Pick<StorageFeatures, 'changeStamp'>;
  /** The collections that are read. */
  readonly collections: readonly { readonly name: string }[];
  /** The size of a value in the caller's units. */
  readonly sizeOf: (value: V) => number;
  /** The maximum total size of cached values; larger values are not cached. */
  readonly sizeMax: number;
}

/**
 * Caches reads of some collections until the next write to them, if the store can report writes; otherwise reads
 * each time. So a value is never older than a read.
 */
export class ReadCache<V> {
  readonly #options: ReadCacheOptions<V>;
  readonly #kept = new Map<string, Promise<V>>();
  #stamp: string | null = null;
  #size = 0;

  constructor(options: ReadCacheOptions<V>) {
    this.#options = options;
  }

  /** Returns the cached value of the key, otherwise the result of `load`. Concurrent callers share the load. */
  get(key: string, load: () => Promise<V>): Promise<V> {
    const { storage, collections } = this.#options;
    const stamp = storage.changeStamp?.(collections);
    if (stamp === undefined) return load();
    if (stamp !== this.#stamp) this.#clear(stamp);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const loading = load();
    this.#kept.set(key, loading);
    loading.then(
      (value) => this.#weigh(key, loading, value),
      () => this.#forget(key, loading),
    );
    return loading;
  }

  #clear(stamp: string): void {
    this.#stamp = stamp;
    this.#kept.clear();
    this.#size = 0;
  }

  #weigh(key: string, loaded: Promise<V>, value: V): void {
    if (this.#kept.get(key) !== loaded) return;
    const { sizeOf, sizeMax } = this.#options;
    const size = sizeOf(value);
    if (this.#size + size > sizeMax) this.#kept.delete(key);
    else this.#size += size;
  }

  #forget(key: string, loading: Promise<V>): void {
    if (this.#kept.get(key) === loading) this.#kept.delete(key);
  }
}
