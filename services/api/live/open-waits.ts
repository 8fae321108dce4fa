/** The requests of this node that wait for a record, so that they can be answered before the node ends. */
export class OpenWaits {
  readonly #ends = new Set<() => void>();
  #isOver = false;

  /** Calls `end` when waiting is over, at once when it is already. What it returns takes it back. */
  add(end: () => void): () => void {
    if (this.#isOver) end();
    else this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  /** Ends all waits, and those that would begin. */
  endAll(): void {
    this.#isOver = true;
    for (const end of this.#ends) end();
  }
}
