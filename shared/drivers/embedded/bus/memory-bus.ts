import { coalescedInterval } from '../../../async/coalesced-timer.ts';
import { unavailable } from '../../../domain/errors.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Bus } from '../../../ports/bus/bus.ts';
import type { ChannelSubscription } from '../../../ports/bus/pub-sub.ts';
import type { BudgetState, BudgetWindow } from '../../../ports/bus/rate-limiter.ts';
import { BudgetCounters, type CountedWindow } from '../../budget-counters.ts';
import { ChannelListeners } from '../../channel-listeners.ts';
import { BudgetTable } from './budget-table.ts';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';

export interface MemoryBusOptions {
  readonly clock: Clock;
  /**
   * Stores budgets, so that they survive a restart. Must have the `budgets` table; its owner closes it after the bus.
   */
  readonly budgetFile?: SqliteFile;
  readonly log: Logger;
}

/**
 * The bus of a single-process installation. When a publish returns, it has reached every listener; listeners are called
 * in subscription order and must be fast. Budgets are written to the file within a second and on close; durable ones
 * with the next commit, so that a use and the write it covers are stored together.
 */
export function openMemoryBus(options: MemoryBusOptions): Bus {
  return new MemoryBus(options);
}

/** A crash loses at most this much of non-durable counting. */
const saveIntervalMs = 1_000;

const announcementLifeMs = 15_000;

/** Limits the memory for listeners that publish in response to each payload. */
const nestedPublishesMax = 100_000;

interface Announcement {
  readonly counts: ReadonlyMap<string, number>;
  readonly endsAt: number;
}

class MemoryBus implements Bus {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #table: BudgetTable | undefined;
  readonly #budgets = new BudgetCounters();
  readonly #unsaved = new Set<string>();
  /** Keys of durable windows that are not yet part of a commit. */
  readonly #unsavedDurable = new Set<string>();
  #removeCommitHook: () => void = () => undefined;
  readonly #listeners: ChannelListeners;
  readonly #announcements = new Map<string, Announcement>();
  readonly #stopTicks: () => void;
  /**
   * Payloads that listeners publish during a delivery. Delivered afterwards, so that all listeners see the same order.
   */
  readonly #nested: { channel: string; payloads: readonly string[] }[] = [];
  #isDelivering = false;
  #saving: Promise<void> | undefined;
  #isClosed = false;

  constructor({ clock, budgetFile, log }: MemoryBusOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#listeners = new ChannelListeners(log);
    this.#table = budgetFile && new BudgetTable(budgetFile);
    for (const window of this.#table?.load(clock()) ?? []) this.#budgets.restore(window);
    if (budgetFile !== undefined)
      this.#removeCommitHook = budgetFile.onEachCommit(() => this.#saveWithCommit(budgetFile));
    this.#stopTicks = coalescedInterval(saveIntervalMs, () => void this.#tick(), { isBackground: true });
  }

  get isConnected(): boolean {
    return !this.#isClosed;
  }

  publish(channel: string, payloads: readonly string[]): Promise<void> {
    if (this.#isClosed || this.#nested.length >= nestedPublishesMax) return Promise.reject(unavailable('Bus'));
    this.#nested.push({ channel, payloads });
    if (!this.#isDelivering) this.#deliver();
    return Promise.resolve();
  }

  isHeard(channel: string): boolean {
    return this.#listeners.has(channel);
  }

  #deliver(): void {
    this.#isDelivering = true;
    for (let index = 0; index < this.#nested.length; index += 1) {
      const { channel, payloads } = this.#nested[index]!;
      for (const payload of payloads) this.#listeners.deliver(channel, payload);
    }
    this.#nested.length = 0;
    this.#isDelivering = false;
  }

  subscribe(channel: string, listener: (payload: string) => void): Promise<ChannelSubscription> {
    if (this.#isClosed) return Promise.reject(unavailable('Bus'));
    const own = this.#listeners.add(channel, listener);
    return Promise.resolve({
      close: () => {
        this.#listeners.remove(own);
        return Promise.resolve();
      },
    });
  }

  /** Never calls the listener, because there is no connection to lose. */
  onConnected(_listener: (connected: boolean) => void): () => void {
    return () => undefined;
  }

  takeBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState> {
    const state = this.#budgets.take(windows, now);
    if (state.accepted) this.#markUnsaved(windows);
    return Promise.resolve(state);
  }

  peekBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState> {
    return Promise.resolve(this.#budgets.peek(windows, now));
  }

  refundBudget(windows: readonly BudgetWindow[], now: number): Promise<void> {
    this.#budgets.refund(windows, now);
    this.#markUnsaved(windows);
    return Promise.resolve();
  }

  #markUnsaved(windows: readonly BudgetWindow[]): void {
    if (this.#table === undefined) return;
    for (const { key, isDurable } of windows) (isDurable === true ? this.#unsavedDurable : this.#unsaved).add(key);
  }

  /** Runs in a group commit. After a failure, the rows wait for the next commit and do not block others. */
  #saveWithCommit(file: SqliteFile): void {
    if (this.#unsavedDurable.size === 0) return;
    try {
      this.#table!.put(this.#currentWindows([...this.#unsavedDurable], this.#clock()));
      file.afterCommit(() => this.#unsavedDurable.clear());
    } catch (error) {
      this.#log.warn({ err: error }, 'budgets could not be saved with a commit');
    }
  }

  #currentWindows(keys: readonly string[], now: number): CountedWindow[] {
    return keys.map((key) => this.#budgets.get(key, now)).filter((window) => window !== undefined);
  }

  async #tick(): Promise<void> {
    const now = this.#clock();
    this.#budgets.sweep(now);
    for (const [nodeId, { endsAt }] of this.#announcements) if (endsAt <= now) this.#announcements.delete(nodeId);
    if (this.#saving === undefined) await this.#save(now);
  }

  /** Does not throw: retries unsaved rows after a second. */
  async #save(now: number): Promise<void> {
    const keys = [...this.#unsaved, ...this.#unsavedDurable];
    if (this.#table === undefined || keys.length === 0) return;
    this.#unsaved.clear();
    this.#saving = this.#table.save(this.#currentWindows(keys, now), now);
    try {
      await this.#saving;
    } catch (error) {
      for (const key of keys) this.#unsaved.add(key);
      this.#log.warn({ err: error }, 'budgets could not be saved');
    } finally {
      this.#saving = undefined;
    }
  }

  announceConnections(nodeId: string, counts: ReadonlyMap<string, number>): Promise<void> {
    this.#announcements.set(nodeId, { counts: new Map(counts), endsAt: this.#clock() + announcementLifeMs });
    return Promise.resolve();
  }

  countConnections(key: string, exceptNodeId: string): Promise<number> {
    const now = this.#clock();
    let sum = 0;
    for (const [nodeId, { counts, endsAt }] of this.#announcements)
      if (endsAt > now && nodeId !== exceptNodeId) sum += counts.get(key) ?? 0;
    return Promise.resolve(sum);
  }

  ping(): Promise<void> {
    return this.#isClosed ? Promise.reject(unavailable('Bus')) : Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTicks();
    this.#listeners.clear();
    await this.#saving?.catch(() => undefined); // its first caller logs it
    await this.#save(this.#clock());
    this.#removeCommitHook();
  }
}
