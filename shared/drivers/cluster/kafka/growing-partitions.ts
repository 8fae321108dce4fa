/**
 * New topics use added partitions only after this number of consecutive checks has found them: consumers, which check
 * as often, read them by then.
 */
const checksBeforeUse = 3;

/** The partitions of the log's topic. An operator can add some while nodes run. */
export class GrowingPartitions {
  readonly #count: () => Promise<number>;
  readonly #timer: NodeJS.Timeout;
  /** The numbers of the last checks. */
  #found: number[];
  #known: number;
  #used: number;

  /** @param count asks Kafka for the number of partitions; a failure is ignored until the next check */
  constructor(
    initial: number,
    { everyMs, count }: { readonly everyMs: number; readonly count: () => Promise<number> },
  ) {
    this.#count = count;
    this.#found = [initial];
    this.#known = initial;
    this.#used = initial;
    this.#timer = setInterval(() => void this.#check().catch(() => undefined), everyMs).unref();
  }

  /** The number of partitions for new topics. Never decreases. */
  get used(): number {
    return this.#used;
  }

  /** Whether the partition exists. Another node may know it earlier, so asks Kafka before it says no. */
  async has(partition: number): Promise<boolean> {
    if (!Number.isInteger(partition) || partition < 0) return false;
    if (partition >= this.#known) this.#known = Math.max(this.#known, await this.#count());
    return partition < this.#known;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const count = await this.#count();
    this.#known = Math.max(this.#known, count);
    this.#found = [...this.#found, count].slice(-checksBeforeUse);
    if (this.#found.length === checksBeforeUse) this.#used = Math.max(this.#used, Math.min(...this.#found));
  }
}
