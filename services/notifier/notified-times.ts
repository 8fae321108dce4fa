import type { Log } from '@tocsin/shared/platform/log.ts';
import { StaleVersion, write, type Documents } from '@tocsin/shared/ports/documents.ts';
import { subscriptions } from '@tocsin/shared/stores/subscriptions-collection.ts';

/** How long times gather before they are written. */
const flushMs = 1_000;
/** Subscriptions in one commit; one that is changed meanwhile sends all of them to the next round. */
const commitSize = 200;
/** Harm prevented: memory that grows while the documents are away. The times beyond are given up. */
const waitingMax = 50_000;

/**
 * When each subscription was last notified, written in bulk some seconds behind: a time that a crash loses is replaced
 * by the next push. Times of one process only grow.
 */
export class NotifiedTimes {
  readonly #documents: Documents;
  readonly #log: Log;
  #waiting = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: { documents: Documents; log: Log }) {
    this.#documents = options.documents;
    this.#log = options.log;
  }

  add(subscriptionIds: readonly string[], at: number): void {
    for (const id of subscriptionIds) {
      if (this.#waiting.size >= waitingMax && !this.#waiting.has(id)) break;
      this.#waiting.set(id, Math.max(at, this.#waiting.get(id) ?? 0));
    }
    this.#schedule();
  }

  /** Writes what is waiting, once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#flushing;
    await this.#flush();
  }

  #schedule(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flushing = this.#flushing.then(() => this.#flush()).then(() => this.#schedule());
    }, flushMs);
  }

  async #flush(): Promise<void> {
    const times = [...this.#waiting];
    this.#waiting = new Map();
    for (let start = 0; start < times.length; start += commitSize) {
      const some = new Map(times.slice(start, start + commitSize));
      try {
        await this.#write(some);
      } catch (error) {
        if (!(error instanceof StaleVersion)) this.#log.warn({ err: error }, 'times of the last push wait for the documents');
        if (!this.#isClosed) for (const [id, at] of some) this.add([id], at);
      }
    }
  }

  async #write(times: ReadonlyMap<string, number>): Promise<void> {
    const found = await this.#documents.getMany(subscriptions, [...times.keys()]);
    const older = found.filter(({ id, lastNotifiedAt }) => lastNotifiedAt === null || lastNotifiedAt < times.get(id)!);
    if (older.length === 0) return;
    await this.#documents.commit(older.map((subscription) => write.update(subscriptions, subscription, { lastNotifiedAt: times.get(subscription.id)! })));
  }
}
