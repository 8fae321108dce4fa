import type { PlacedRecord } from '@tocsin/shared/domain/messages/log-record.ts';
import { storedReportsChannel, type StoredReport } from '@tocsin/shared/domain/messages/stored-reports.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { PubSub } from '@tocsin/shared/ports/bus/pub-sub.ts';
import { subscribeLater } from '@tocsin/shared/async/subscribe-later.ts';
import type { InlineStore } from './inline-store.ts';

/** A fan-out that reports nothing for this long while a publish waits has stopped. */
const lateMs = 700;
/**
 * How long a publish waits for a fan-out that reports earlier messages. Under load, waiting is better than storing the
 * message itself, because both would write the same documents and take longer.
 */
const waitMsMax = 2_000;
/** How long a node stores the messages of a partition itself after its fan-out was late. */
const avoidMs = 5_000;
/** Limits the memory for publishes that wait. The fan-out stores messages without a waiting publish, too. */
const waitingMax = 10_000;

interface Waiting {
  readonly record: PlacedRecord;
  readonly since: number;
  readonly done: () => void;
}

/** What the node knows about the fan-out of a partition. */
interface PartitionState {
  /** The fan-out has stored everything up to this offset. */
  storedUpTo: number;
  /** The time of the last report. */
  reportedAt: number;
  waiting: Waiting[];
  /** Set while the fan-out is late: the node stores messages until then, and until a probe is stored in time. */
  avoidedUntil: number | undefined;
  /** A message whose storage by the fan-out is timed while it is avoided. */
  probe: { readonly offset: number; readonly since: number } | undefined;
}

export interface FanOutStoreDeps {
  readonly bus: Pick<PubSub, 'isConnected' | 'subscribe'>;
  readonly nodeId: string;
  /** Stores the messages that the fan-out does not store in time. */
  readonly direct: InlineStore;
  /** Monotonic. */
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Waits until the fan-out has stored the messages of publishes. One fan-out batch stores the messages of all nodes, so
 * each message is written once. The fan-out reports to the node that a record names. If it is late, or the bus is down,
 * the node stores messages itself (decision 0003).
 */
export class FanOutStore implements InlineStore {
  readonly nodeId: string;
  readonly #deps: FanOutStoreDeps;
  readonly #partitions = new Map<number, PartitionState>();
  #waitingCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deps: FanOutStoreDeps) {
    this.#deps = deps;
    this.nodeId = deps.nodeId;
  }

  /** Resolves with the function that ends it. Without the bus, it subscribes later. */
  async start(): Promise<() => Promise<void>> {
    const { bus, nodeId } = this.#deps;
    const subscription = await subscribeLater(bus, storedReportsChannel(nodeId), (payload) =>
      this.#stored(JSON.parse(payload) as StoredReport),
    );
    return async () => {
      this.#isClosed = true;
      clearTimeout(this.#timer);
      for (const state of this.#partitions.values()) this.#release(state, state.waiting);
      await subscription.close().catch(() => undefined); // a bus that is down has dropped the subscription
    };
  }

  store(placed: PlacedRecord): Promise<void> {
    const state = this.#stateOf(placed.partition);
    if (placed.offset <= state.storedUpTo) return Promise.resolve();
    const now = this.#deps.clock();
    if (state.avoidedUntil !== undefined) state.probe ??= { offset: placed.offset, since: now };
    if (state.avoidedUntil !== undefined || !this.#deps.bus.isConnected || this.#isClosed)
      return this.#deps.direct.store(placed);
    if (this.#waitingCount >= waitingMax) return Promise.resolve();
    return new Promise((resolve) => {
      state.waiting.push({ record: placed, since: now, done: resolve });
      this.#waitingCount += 1;
      this.#timer ??= setTimeout(() => this.#check(), lateMs);
    });
  }

  #stateOf(partition: number): PartitionState {
    const known = this.#partitions.get(partition);
    if (known !== undefined) return known;
    const state = { storedUpTo: -1, reportedAt: -Infinity, waiting: [], avoidedUntil: undefined, probe: undefined };
    this.#partitions.set(partition, state);
    return state;
  }

  #stored({ partition, upTo }: StoredReport): void {
    const state = this.#stateOf(partition);
    state.storedUpTo = Math.max(state.storedUpTo, upTo);
    state.reportedAt = this.#deps.clock();
    const stored = state.waiting.filter(({ record }) => record.offset <= upTo);
    if (stored.length > 0) this.#release(state, stored);
    if (state.probe !== undefined && state.probe.offset <= upTo) this.#checkProbe(partition, state, state.probe.since);
  }

  /** Waits for the fan-out again if it has stored a probe in time. */
  #checkProbe(partition: number, state: PartitionState, since: number): void {
    const now = this.#deps.clock();
    state.probe = undefined;
    if (now - since >= lateMs || now < state.avoidedUntil!) return;
    state.avoidedUntil = undefined;
    this.#deps.log.info({ partition }, 'the fan-out stores messages in time again');
  }

  /** Stores the messages itself that wait for too long, and those after them. */
  #check(): void {
    this.#timer = undefined;
    const now = this.#deps.clock();
    let next = Infinity;
    for (const [partition, state] of this.#partitions) {
      const [oldest] = state.waiting;
      if (oldest === undefined) continue;
      const lateAt = Math.min(Math.max(oldest.since, state.reportedAt) + lateMs, oldest.since + waitMsMax);
      if (now < lateAt) next = Math.min(next, lateAt - now);
      else this.#avoid(partition, state, now);
    }
    if (next < Infinity) this.#timer = setTimeout(() => this.#check(), Math.max(next, 1));
  }

  #avoid(partition: number, state: PartitionState, now: number): void {
    state.avoidedUntil = now + avoidMs;
    const { waiting } = state;
    this.#deps.log.warn({ partition, messages: waiting.length }, 'the fan-out is late, storing messages directly');
    state.waiting = [];
    this.#waitingCount -= waiting.length;
    for (const { record, done } of waiting) void this.#deps.direct.store(record).then(done);
  }

  #release(state: PartitionState, released: readonly Waiting[]): void {
    const gone = new Set(released);
    state.waiting = state.waiting.filter((one) => !gone.has(one));
    this.#waitingCount -= gone.size;
    for (const { done } of gone) done();
  }
}
