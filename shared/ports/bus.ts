import { AppError } from '../domain/errors.ts';

/**
 * What is fast and may be lost: live envelopes to whoever listens now, and counters.
 * Nothing that would be missed is kept here; a lost connection is healed from the stores.
 */
export interface Bus {
  /**
   * Sends payloads to the channel's subscribers on all nodes, in this order. At most once.
   * Throws AppError `unavailable` at once while the bus is away: nothing waits for its return.
   */
  publish(channel: string, payloads: readonly string[]): Promise<void>;

  /**
   * Resolves once the subscription is confirmed: what is published after that arrives, in order, while the connection
   * holds. Subscriptions are taken up again by themselves after an outage.
   * Throws Unconfirmed (`unavailable`) at once while the bus is away, and when it is not confirmed within two seconds;
   * the subscription then follows on reconnect, until it is closed by what the error carries.
   */
  subscribe(channel: string, listener: (payload: string) => void): Promise<Subscribed>;

  /** Calls the listener with false when the connection is lost and with true when all subscriptions are back. */
  onConnected(listener: (connected: boolean) => void): () => void;
  readonly isConnected: boolean;

  /**
   * Counts one use in every window, or in none: exact under any number of concurrent calls on all nodes.
   * While the bus is away the windows are counted per process.
   */
  takeBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState>;

  /** The same figures without counting a use. */
  peekBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState>;

  /**
   * Gives back one use that `takeBudget` accepted. A window that ended meanwhile is left alone, and where the span says
   * `endsAt` (the `resetAt` of the take) also one that has begun since under the same key.
   */
  refundBudget(windows: readonly BudgetWindow[], now: number): Promise<void>;

  /** Tells how many connections this node holds under each key. Replaces what it told before; forgotten 15 s after the last call. */
  announceConnections(nodeId: string, counts: ReadonlyMap<string, number>): Promise<void>;

  /** Connections under the key over all nodes, within two seconds of the truth, 15 s after the death of a node. */
  countConnections(key: string): Promise<number>;

  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface Subscribed {
  close(): Promise<void>;
}

/** The bus is away: the listener is kept and hears what is published once the bus is back. */
export class Unconfirmed extends AppError {
  readonly subscribed: Subscribed;
  constructor(subscribed: Subscribed, cause?: unknown) {
    super('unavailable', 'Bus is unavailable', { cause, retryAfterSeconds: 1 });
    this.subscribed = subscribed;
  }
}

export interface BudgetWindow {
  /** Same key, same counter. */
  readonly key: string;
  readonly limit: number;
  /** The window's length from the first use in it, in milliseconds; or the time at which it ends, for calendar windows. */
  readonly span: { readonly lengthMs: number } | { readonly endsAt: number };
  /**
   * A use is not forgotten by a crash of the process once anything is committed after it: for uses that pay for what is
   * written next. Others can be lost with the last second before it.
   */
  readonly isDurable?: boolean;
}

export interface BudgetState {
  /** Whether a use was (takeBudget) or would be (peekBudget) accepted. */
  readonly accepted: boolean;
  /** In the order asked. `resetAt`: when the window ends; one not begun ends a full length from now. */
  readonly windows: readonly { readonly remaining: number; readonly resetAt: number }[];
}
