import type { BudgetState, BudgetWindow } from '../ports/bus/rate-limiter.ts';

/** A started window. */
export interface CountedWindow {
  readonly key: string;
  readonly uses: number;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

interface Counter {
  uses: number;
  endsAt: number;
}

/**
 * Limits memory under a flood of new keys (addresses). A counter takes about 200 bytes. Beyond the limit, drops the
 * windows that end within the earliest second.
 */
const countersMax = 1_000_000;

/** Callers pass the time of their request, so consecutive times can decrease by up to this much. */
const clockJitterMs = 5_000;

/**
 * Counts budgets in memory: all budgets of the embedded engine, and those of a cluster while Redis is down.
 * A call takes about a microsecond. As in the port, the first use sets the end of a window.
 */
export class BudgetCounters {
  readonly #counters = new Map<string, Counter>();
  /** Keys by the second in which their window ends, so that a sweep only visits ended windows. */
  readonly #keysByEndSecond = new Map<number, Set<string>>();
  readonly #max: number;

  constructor(max: number = countersMax) {
    this.#max = max;
  }

  get size(): number {
    return this.#counters.size;
  }

  take(windows: readonly BudgetWindow[], now: number): BudgetState {
    const state = this.peek(windows, now);
    if (!state.accepted) return state;
    for (const window of windows) this.#count(window, now);
    return {
      accepted: true,
      windows: state.windows.map(({ remaining, resetAt }) => ({ remaining: remaining - 1, resetAt })),
    };
  }

  peek(windows: readonly BudgetWindow[], now: number): BudgetState {
    let accepted = true;
    const states = windows.map((window) => {
      const counter = this.#live(window, now);
      const remaining = Math.max(0, window.limit - (counter?.uses ?? 0));
      if (remaining === 0) accepted = false;
      return { remaining, resetAt: counter?.endsAt ?? endOfWindow(window, now) };
    });
    return { accepted, windows: states };
  }

  refund(windows: readonly BudgetWindow[], now: number): void {
    for (const window of windows) {
      const { span } = window;
      const counter = this.#live(window, now);
      if (counter === undefined || counter.uses === 0) continue;
      const isTakenWindow = !('endsAt' in span) || counter.endsAt <= span.endsAt;
      if (isTakenWindow) counter.uses -= 1;
    }
  }

  /** Returns the window of this key, unless it has ended. */
  get(key: string, now: number): CountedWindow | undefined {
    const counter = this.#counters.get(key);
    return counter !== undefined && counter.endsAt > now ? { key, ...counter } : undefined;
  }

  /** Restores a stored window. */
  restore({ key, uses, endsAt }: CountedWindow): void {
    this.#delete(key);
    this.#set(key, { uses, endsAt });
  }

  /** Removes ended windows. */
  sweep(now: number): void {
    for (const [second, keys] of this.#keysByEndSecond) {
      if ((second + 1) * 1_000 <= now) this.#drop(second, keys);
    }
  }

  clear(): void {
    this.#counters.clear();
    this.#keysByEndSecond.clear();
  }

  /**
   * Returns the window's counter, unless the window has ended. If the clock was set back since the window started,
   * moves its end to that of a window that starts now.
   */
  #live(window: BudgetWindow, now: number): Counter | undefined {
    const counter = this.#counters.get(window.key);
    if (counter === undefined || counter.endsAt <= now) return undefined;
    const latest = endOfWindow(window, now);
    const isNearItsEnd = latest - now < clockJitterMs; // a later caller may have started the next window
    if (counter.endsAt <= latest + clockJitterMs || isNearItsEnd) return counter;
    const shortened = { uses: counter.uses, endsAt: latest };
    this.#delete(window.key);
    this.#set(window.key, shortened);
    return shortened;
  }

  #count(window: BudgetWindow, now: number): void {
    const counter = this.#live(window, now);
    if (counter !== undefined) {
      counter.uses += 1;
      return;
    }
    this.#delete(window.key);
    if (this.#counters.size >= this.#max) this.#dropEarliest();
    this.#set(window.key, { uses: 1, endsAt: endOfWindow(window, now) });
  }

  #set(key: string, counter: Counter): void {
    this.#counters.set(key, counter);
    const second = secondOf(counter);
    const keys = this.#keysByEndSecond.get(second);
    if (keys === undefined) this.#keysByEndSecond.set(second, new Set([key]));
    else keys.add(key);
  }

  #delete(key: string): void {
    const counter = this.#counters.get(key);
    if (counter === undefined) return;
    this.#counters.delete(key);
    const second = secondOf(counter);
    const keys = this.#keysByEndSecond.get(second);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysByEndSecond.delete(second);
  }

  #dropEarliest(): void {
    const earliest = [...this.#keysByEndSecond.keys()].reduce((first, second) => Math.min(first, second), Infinity);
    this.#drop(earliest, this.#keysByEndSecond.get(earliest) ?? new Set());
  }

  #drop(second: number, keys: ReadonlySet<string>): void {
    for (const key of keys) this.#counters.delete(key);
    this.#keysByEndSecond.delete(second);
  }
}

/** Returns when a window that starts now ends. */
export const endOfWindow = ({ span }: BudgetWindow, now: number): number =>
  'endsAt' in span ? span.endsAt : now + span.lengthMs;

const secondOf = ({ endsAt }: Counter): number => Math.floor(endsAt / 1_000);
