import { isUnavailable } from '../domain/errors.ts';
import { coalescedInterval } from './coalesced-timer.ts';

export interface WriteBehindOptions<P> {
  /** The kind of updates, for log messages. */
  readonly of: string;
  /** Merges two updates of one document. */
  readonly merge: (older: P, newer: P) => P;
  /** Writes a batch; resolves with the updates to retry. Throws `unavailable` to retry all of them. */
  readonly write: (batch: ReadonlyMap<string, P>) => Promise<ReadonlyMap<string, P>>;
  readonly everyMs: number;
  /** Called with the error when updates are lost. */
  readonly onLoss: (error: unknown) => void;
}

/** Documents per write, so that a flush does not delay other writes. */
const batchSize = 500;

/** Limits memory while the store is down. Updates of further documents are lost. */
const pendingMax = 50_000;

/**
 * A write-behind buffer for frequent updates that need not be exact: merges them per document and writes them every few
 * seconds. A crash loses unwritten updates. While the store is down, updates stay in the buffer; `close` writes the
 * rest once.
 */
export class WriteBehindBuffer<P> {
  readonly #options: WriteBehindOptions<P>;
  readonly #stopFlushes: () => void;
  #pending = new Map<string, P>();
  #lost = 0;
  /** Writes that have ended. */
  #writes = 0;
  #flushing: Promise<void> | undefined;

  constructor(options: WriteBehindOptions<P>) {
    this.#options = options;
    this.#stopFlushes = coalescedInterval(options.everyMs, () => void this.flush(), { isBackground: true });
  }

  add(id: string, update: P): void {
    const older = this.#pending.get(id);
    if (older === undefined && this.#pending.size >= pendingMax) {
      this.#lost += 1;
      return;
    }
    this.#pending.set(id, older === undefined ? update : this.#options.merge(older, update));
  }

  /** Writes pending updates; resolves when they are written or back in the buffer after a failure. */
  async flush(): Promise<void> {
    // A running flush may already have taken its batch; later updates need another flush.
    await this.#flushing;
    this.#flushing ??= this.#writeAll().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  /**
   * Returns what `find` reads, with all updates that were added before: if some of the results were pending, or a write
   * ended meanwhile, it reads again after the write.
   */
  async readWithPending<T extends { readonly id: string }>(find: () => Promise<T[]>): Promise<T[]> {
    const writes = this.#writes;
    const found = await find();
    await this.#flushing;
    const batch = new Map<string, P>();
    for (const { id } of found) {
      const update = this.#pending.get(id);
      if (update === undefined) continue;
      this.#pending.delete(id);
      batch.set(id, update);
    }
    if (batch.size > 0) await this.#writeBatch(batch);
    return this.#writes === writes ? found : find();
  }

  async close(): Promise<void> {
    this.#stopFlushes();
    await this.flush();
  }

  async #writeAll(): Promise<void> {
    const { of, onLoss } = this.#options;
    if (this.#lost > 0) onLoss(new Error(`${this.#lost} updates of ${of} were lost because the buffer was full`));
    this.#lost = 0;
    const all = [...this.#pending];
    this.#pending = new Map();
    for (let at = 0; at < all.length; at += batchSize) await this.#writeBatch(new Map(all.slice(at, at + batchSize)));
  }

  async #writeBatch(batch: ReadonlyMap<string, P>): Promise<void> {
    const { write, onLoss } = this.#options;
    try {
      for (const [id, update] of await write(batch)) this.#putBack(id, update);
    } catch (error) {
      if (isUnavailable(error)) for (const [id, update] of batch) this.#putBack(id, update);
      else onLoss(error);
    }
    this.#writes += 1;
  }

  /** Puts updates back for the next flush, before newer updates of the same document. */
  #putBack(id: string, update: P): void {
    const newer = this.#pending.get(id);
    this.#pending.delete(id);
    if (newer !== undefined) this.#pending.set(id, this.#options.merge(update, newer));
    else this.add(id, update);
  }
}
