import type { Documents } from '@tocsin/shared/ports/documents.ts';

export interface KeptReadsOptions<V> {
  readonly documents: Pick<Documents, 'stamp'>;
  /** All that is read. */
  readonly collections: readonly { readonly name: string }[];
  /** How much of the memory a value takes, in units of the caller's. */
  readonly sizeOf: (value: V) => number;
  /** Harm prevented: values of many callers filling the memory. Together they are no larger, and a larger one is not kept. */
  readonly sizeMax: number;
}

/**
 * Keeps what was read of some collections for as long as nobody writes to them, where the store can tell; elsewhere it is read
 * anew each time. So it is never older than a read would be.
 */
export class KeptReads<V> {
  readonly #options: KeptReadsOptions<V>;
  readonly #kept = new Map<string, Promise<V>>();
  #stamp: string | null = null;
  #size = 0;

  constructor(options: KeptReadsOptions<V>) {
    this.#options = options;
  }

  /** The value under the key, from `load` when it is not kept. Those who ask while it loads share it. */
  get(key: string, load: () => Promise<V>): Promise<V> {
    const { documents, collections } = this.#options;
    const stamp = documents.stamp(collections);
    if (stamp === null) return load();
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
