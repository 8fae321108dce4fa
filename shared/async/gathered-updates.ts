import { isUnavailable } from '../domain/errors.ts';

export interface GatheredOptions<P> {
  /** What is updated, for whoever reads of a loss. */
  readonly of: string;
  /** What two updates of one document come to. */
  readonly merge: (before: P, after: P) => P;
  /** Writes some; resolves with those to be written again next time. Throws `unavailable` where all of them are. */
  readonly write: (batch: ReadonlyMap<string, P>) => Promise<ReadonlyMap<string, P>>;
  readonly everyMs: number;
  /** Called with what made updates be lost. */
  readonly onLoss: (error: unknown) => void;
}

/** Documents written at once. Harm prevented: thousands of writes in front of everyone else's. */
const batchSize = 500;

/** Harm prevented: memory filling while the store is away. Beyond it updates of further documents are lost. */
const pendingMax = 50_000;

/**
 * Updates of documents that come by the hundred a second and need not be exact: gathered per document, and written every
 * few seconds. A crash loses what was not written. While the store is away what is gathered waits; `close` writes the rest
 * once.
 */
export class GatheredUpdates<P> {
  readonly #options: GatheredOptions<P>;
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, P>();
  #lost = 0;
  #flushing: Promise<void> | undefined;

  constructor(options: GatheredOptions<P>) {
    this.#options = options;
    this.#timer = setInterval(() => void this.flush(), options.everyMs).unref();
  }

  add(id: string, update: P): void {
    const before = this.#pending.get(id);
    if (before === undefined && this.#pending.size >= pendingMax) {
      this.#lost += 1;
      return;
    }
    this.#pending.set(id, before === undefined ? update : this.#options.merge(before, update));
  }

  /** Writes what is pending; resolves when that is done, or has been put back because it could not be. */
  async flush(): Promise<void> {
    // A flush under way may have taken its batch already: what came since is the next one's.
    await this.#flushing;
    this.#flushing ??= this.#writeAll().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  /** Writes what is pending of these documents, for someone who looks at them now; resolves as `flush` does, with whether anything was. */
  async flushOf(ids: readonly string[]): Promise<boolean> {
    await this.#flushing;
    const batch = new Map<string, P>();
    for (const id of ids) {
      const update = this.#pending.get(id);
      if (update === undefined) continue;
      this.#pending.delete(id);
      batch.set(id, update);
    }
    if (batch.size > 0) await this.#writeBatch(batch);
    return batch.size > 0;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #writeAll(): Promise<void> {
    const { of, onLoss } = this.#options;
    if (this.#lost > 0) onLoss(new Error(`${this.#lost} updates of ${of} were lost: too many were waiting`));
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
  }

  /** For the next flush; what came for the document since then is later. */
  #putBack(id: string, update: P): void {
    const after = this.#pending.get(id);
    this.#pending.delete(id);
    if (after !== undefined) this.#pending.set(id, this.#options.merge(update, after));
    else this.add(id, update);
  }
}
