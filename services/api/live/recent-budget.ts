/** A holder of memory that can give it up. */
interface Holder {
  clear(): void;
}

/** Limits the memory of several holders together. Clears those that were not used for the longest time. */
export class RecentBudget {
  readonly #bytesMax: number;
  /** The least recently used first. */
  readonly #held = new Map<Holder, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Records a use of the holder, and that it now holds this many bytes. */
  use(holder: Holder, bytes: number): void {
    this.#release(holder);
    if (bytes === 0) return;
    this.#held.set(holder, bytes);
    this.#bytes += bytes;
    while (this.#bytes > this.#bytesMax) {
      const [oldest] = this.#held.keys();
      this.#release(oldest!);
      oldest!.clear();
    }
  }

  #release(holder: Holder): void {
    this.#bytes -= this.#held.get(holder) ?? 0;
    this.#held.delete(holder);
  }
}
