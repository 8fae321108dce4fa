/** Counts uses within windows over all nodes. While the bus is down, each process counts on its own. */
export interface RateLimiter {
  /** Counts one use in every window, or in none. Exact under concurrent calls of all nodes. */
  takeBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState>;

  /** Returns the same state without counting a use. */
  peekBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState>;

  /**
   * Refunds one use that `takeBudget` accepted. Ignores a window that has ended, and, if the span contains `endsAt` (the
   * `resetAt` of the take), one that started later under the same key.
   */
  refundBudget(windows: readonly BudgetWindow[], now: number): Promise<void>;
}

export interface BudgetWindow {
  /** Windows with the same key share a counter. */
  readonly key: string;
  readonly limit: number;
  /** The window's length from its first use, in milliseconds; or its end, for calendar windows. */
  readonly span: { readonly lengthMs: number } | { readonly endsAt: number };
  /**
   * Whether a use survives a crash once a later write is committed: for uses that pay for this write. Other uses of the last
   * second can be lost.
   */
  readonly isDurable?: boolean;
}

export interface BudgetState {
  /** Whether a use was (takeBudget) or would be (peekBudget) accepted. */
  readonly accepted: boolean;
  /** In request order. `resetAt` is the end of the window; a window without uses ends one length from now. */
  readonly windows: readonly { readonly remaining: number; readonly resetAt: number }[];
}
