import {
  deliveriesPerPage,
  deliveryPagesMax,
  findDeliveryPages,
  sinkDeliveryPages,
  sinks,
  type SinkDeliveryPage,
} from '@tocsin/shared/collections/sinks/sinks.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import type { Sink, SinkDelivery } from '@tocsin/shared/domain/sinks/sink.ts';
import { StaleVersion, write, type Changes, type Write } from '@tocsin/shared/ports/documents.ts';
import type { SinkDeps } from './sink-deps.ts';

/** Another notifier has the claim, or the sink was deleted. */
export class ClaimLost extends Error {}

type HeldDeps = Pick<SinkDeps, 'clock' | 'makeId' | 'limits'> & {
  readonly engine: Pick<SinkDeps['engine'], 'documents'>;
};

type Failure = Pick<Sink, 'attempts' | 'failingSince' | 'retryAt'>;
type Progress = Pick<Sink, 'offset'> & Failure;

const progressOf = ({ offset, attempts, failingSince, retryAt }: Progress): Progress => ({
  offset,
  attempts,
  failingSince,
  retryAt,
});

/**
 * A sink that this process has the claim on, with progress that is not stored yet. A crash repeats the records since
 * the last `save`.
 */
export class HeldSink {
  readonly #deps: HeldDeps;
  #sink: Sink;
  #progress: Progress;
  #counted = { delivered: 0, skipped: 0 };
  /** `testAt` of a test that was sent or is void. */
  #endedTestAt: number | null = null;
  /** The newest stored page, null without one. */
  #page: SinkDeliveryPage | null;
  #pending: SinkDelivery[] = [];
  #savedAt = performance.now();

  private constructor(deps: HeldDeps, sink: Sink, page: SinkDeliveryPage | null) {
    this.#deps = deps;
    this.#sink = sink;
    this.#progress = progressOf(sink);
    this.#page = page;
  }

  /** Claims the sink, as it was read; null if another process was faster. */
  static async claim(deps: HeldDeps, found: Sink): Promise<HeldSink | null> {
    const { documents } = deps.engine;
    try {
      const sink = await documents.update(sinks, found, {
        claim: deps.makeId(),
        dueAt: deps.clock() + deps.limits.claimMs,
        isIdle: false,
      });
      const [page] = await findDeliveryPages(documents, sink.id, 1);
      return new HeldSink(deps, sink, page ?? null);
    } catch (error) {
      if (error instanceof StaleVersion) return null;
      throw error;
    }
  }

  /** The sink as of the last save, with the present progress. */
  get sink(): Sink {
    return { ...this.#sink, ...this.#progress };
  }

  get isSaveDue(): boolean {
    return performance.now() - this.#savedAt >= this.#deps.limits.saveMs;
  }

  /** Moves on to the offset, after a record with this outcome, if it was sent. */
  moveTo(offset: number, outcome?: 'delivered' | 'skipped'): void {
    this.#progress = { offset, attempts: 0, failingSince: null, retryAt: null };
    if (outcome !== undefined) this.#counted[outcome] += 1;
  }

  /** The record at the offset failed. */
  fail(failure: Failure): void {
    this.#progress = { ...this.#progress, ...failure };
  }

  /** The next `save` removes the test of `sink`, which was sent or is void, but none that is requested later. */
  endTest(): void {
    this.#endedTestAt = this.#sink.testAt;
  }

  note(delivery: SinkDelivery): void {
    this.#pending = merged(this.#pending, [delivery]);
  }

  /**
   * Stores the progress and renews the claim, or ends it with `change`. Resolves with false if a manager changed the
   * position or the state: the manager's position then applies, and nothing of `change`. If a test was requested and
   * not sent, the end of the claim makes the sink due now. Throws ClaimLost.
   */
  async save(change: Changes<Sink> = {}): Promise<boolean> {
    const { documents } = this.#deps.engine;
    const { revision } = this.#sink;
    const pages = this.#pageWrites();
    const isApplied = await retryStale(async () => {
      const now = this.#deps.clock();
      const isSame = this.#sink.revision === revision;
      const testAt = this.#sink.testAt === this.#endedTestAt ? null : this.#sink.testAt;
      const set: Changes<Sink> = {
        delivered: this.#sink.delivered + this.#counted.delivered,
        skipped: this.#sink.skipped + this.#counted.skipped,
        dueAt: now + this.#deps.limits.claimMs,
        ...(isSame ? { ...this.#progress, ...change } : {}),
        testAt,
        ...(isSame && change.claim === null && testAt !== null ? { dueAt: now, isIdle: false } : {}),
      };
      try {
        await documents.commit([write.update(sinks, this.#sink, set), ...pages.writes]);
      } catch (error) {
        if (error instanceof StaleVersion) await this.#reload();
        throw error;
      }
      this.#sink = { ...this.#sink, ...set, version: this.#sink.version + 1 };
      return isSame;
    });
    this.#counted = { delivered: 0, skipped: 0 };
    this.#progress = progressOf(this.#sink);
    this.#pending = [];
    this.#page = pages.newest;
    this.#savedAt = performance.now();
    if (pages.hasNew) await this.#removeOldPages();
    return isApplied;
  }

  async #reload(): Promise<void> {
    const { claim, id } = this.#sink;
    const stored = await this.#deps.engine.documents.get(sinks, id);
    if (stored === null || stored.claim !== claim) throw new ClaimLost();
    this.#sink = stored;
  }

  /** Returns the writes that store the pending deliveries: the rest of the newest page, then new ones. */
  #pageWrites(): { writes: Write[]; newest: SinkDeliveryPage | null; hasNew: boolean } {
    let newest = this.#page;
    if (this.#pending.length === 0) return { writes: [], newest, hasNew: false };
    const { id: sinkId, topicId } = this.#sink;
    const all = merged(newest?.deliveries ?? [], this.#pending);
    const writes: Write[] = [];
    for (let at = 0; at < all.length; at += deliveriesPerPage) {
      const deliveries = all.slice(at, at + deliveriesPerPage);
      if (at === 0 && newest !== null) {
        writes.push(write.update(sinkDeliveryPages, newest, { deliveries }));
        newest = { ...newest, deliveries, version: newest.version + 1 };
      } else {
        const number = (newest?.number ?? 0) + 1;
        newest = { id: this.#deps.makeId(), version: 1, sinkId, topicId, number, deliveries };
        writes.push(write.insert(sinkDeliveryPages, newest));
      }
    }
    return { writes, newest, hasNew: newest?.id !== this.#page?.id };
  }

  async #removeOldPages(): Promise<void> {
    const { documents } = this.#deps.engine;
    const old = await documents.find(sinkDeliveryPages, {
      index: 'number',
      equals: { sinkId: this.#sink.id },
      to: this.#page!.number - deliveryPagesMax,
      limit: deliveryPagesMax,
    });
    if (old.length > 0) await documents.commit(old.map(({ id }) => write.remove(sinkDeliveryPages, id)));
  }
}

/** Appends deliveries. An attempt replaces the earlier one of its record. */
function merged(stored: readonly SinkDelivery[], added: readonly SinkDelivery[]): SinkDelivery[] {
  const all = [...stored];
  for (const delivery of added) {
    const last = all.at(-1);
    if (last?.outcome === 'retrying' && last.requestId === delivery.requestId) all.pop();
    all.push(delivery);
  }
  return all;
}
