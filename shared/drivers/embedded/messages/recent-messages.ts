/** More messages than consumers at the head of the log lag; about 200 kB. */
const size = 8_192;

/**
 * Caches the IDs of the newest message rows by offset, so that a process need not look up rows that it just wrote. A
 * cached row exists; a row that is not cached may exist.
 */
export class RecentMessages {
  readonly #offsets = new Float64Array(size).fill(-1);
  readonly #ids = new Array<string>(size).fill('');

  /** Call after the row is committed. */
  add(offset: number, id: string): void {
    this.#offsets[offset % size] = offset;
    this.#ids[offset % size] = id;
  }

  has(offset: number, id: string): boolean {
    return this.#offsets[offset % size] === offset && this.#ids[offset % size] === id;
  }

  /** Call after rows were moved or removed. */
  clear(): void {
    this.#offsets.fill(-1);
  }
}
