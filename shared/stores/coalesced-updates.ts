import { AppError } from '../domain/errors.ts';
import { StaleVersion, type Changes, type Collection, type Document, type Documents } from '../ports/documents.ts';

export interface CoalescedOptions<T extends Document, P> {
  readonly documents: Documents;
  readonly collection: Collection<T>;
  /** What two updates of one document come to. */
  readonly merge: (before: P, after: P) => P;
  /** What to set; null when the document says it already. */
  readonly change: (document: T, pending: P) => Changes<T> | null;
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
 * few seconds by conditional updates, so that nothing that others changed is overwritten. A crash loses what was not
 * written. While the store is away what is gathered waits; `close` writes the rest once.
 */
export class CoalescedUpdates<T extends Document, P> {
  readonly #options: CoalescedOptions<T, P>;
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, P>();
  #lost = 0;
  #flushing: Promise<void> | undefined;

  constructor(options: CoalescedOptions<T, P>) {
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

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #writeAll(): Promise<void> {
    if (this.#lost > 0) this.#options.onLoss(new Error(`${this.#lost} updates of ${this.#options.collection.name} were lost: too many were waiting`));
    this.#lost = 0;
    const all = [...this.#pending];
    this.#pending = new Map();
    for (let at = 0; at < all.length; at += batchSize) await this.#writeBatch(new Map(all.slice(at, at + batchSize)));
  }

  async #writeBatch(batch: ReadonlyMap<string, P>): Promise<void> {
    const { documents, collection, change, onLoss } = this.#options;
    let found: T[];
    try {
      found = await documents.getMany(collection, [...batch.keys()]);
    } catch (error) {
      if (isAway(error)) for (const [id, update] of batch) this.#putBack(id, update);
      else onLoss(error);
      return;
    }
    await Promise.all(found.map(async (document) => {
      const update = batch.get(document.id)!;
      const set = change(document, update);
      if (set === null) return;
      try {
        await documents.update(collection, document, set);
      } catch (error) {
        if (error instanceof StaleVersion || isAway(error)) this.#putBack(document.id, update);
        else onLoss(error);
      }
    }));
  }

  /** For the next flush; what came for the document since then is later. */
  #putBack(id: string, update: P): void {
    const after = this.#pending.get(id);
    this.#pending.delete(id);
    if (after !== undefined) this.#pending.set(id, this.#options.merge(update, after));
    else this.add(id, update);
  }
}

const isAway = (error: unknown): boolean => error instanceof AppError && error.code === 'unavailable';
