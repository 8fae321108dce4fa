/** As many as consumers of the log at the head are ever behind; 200 kB or so. */
const size = 8_192;

/**
 * Which ids the newest message rows have, by position: what a process has just written it need not look up again. Knows of
 * rows that are there for certain; of others it knows nothing.
 */
export class RecentMessages {
  readonly #offsets = new Float64Array(size).fill(-1);
  readonly #ids = new Array<string>(size).fill('');

  /** To be called once the row is committed. */
  add(offset: number, id: string): void {
    this.#offsets[offset % size] = offset;
    this.#ids[offset % size] = id;
  }

  has(offset: number, id: string): boolean {
    return this.#offsets[offset % size] === offset && this.#ids[offset % size] === id;
  }

  /** To be called when rows were moved or removed. */
  forget(): void {
    this.#offsets.fill(-1);
  }
}
