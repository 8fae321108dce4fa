/** The requests of this node that wait for a record, so that they can be answered before the node stops. */
export class OpenWaits {
  readonly #ends = new Set<() => void>();
  #isOver = false;

  /** Calls `end` when waiting must stop, immediately if it already has. Returns a function that unregisters it. */
  add(end: () => void): () => void {
    if (this.#isOver) end();
    else this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  /** Ends all current and future waits. */
  endAll(): void {
    this.#isOver = true;
    for (const end of this.#ends) end();
  }
}
