/** Counts uses per window over all nodes. While the bus is down, each process counts separately. */
export interface RateLimiter {
  /**
   * Counts one use in every window, or in none if a window has no use left. Exact under concurrent calls from all
   * nodes.
   */
  takeBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState>;

  /** Like `takeBudget`, but counts no use. */
  peekBudget(windows: readonly BudgetWindow[], now: number): Promise<BudgetState>;

  /**
   * Refunds one use that `takeBudget` accepted. Ignores windows that have ended. If the span has `endsAt` (the
   * `resetAt` of the take), also ignores a later window with the same key.
   */
  refundBudget(windows: readonly BudgetWindow[], now: number): Promise<void>;
}

export interface BudgetWindow {
  /** Windows with the same key share a counter. */
  readonly key: string;
  readonly limit: number;
  /** The length from the first use, in milliseconds, or the end of a calendar window. */
  readonly span: { readonly lengthMs: number } | { readonly endsAt: number };
  /**
   * Set it for uses that pay for a write: such a use survives a crash if the write does. A crash can lose other uses of
   * the last second.
   */
  readonly isDurable?: boolean;
}

export interface BudgetState {
  /** Whether the use was accepted (takeBudget) or would be (peekBudget). */
  readonly accepted: boolean;
  /** In the order of the request. `resetAt` is the end of the window; for an unused window, one length from now. */
  readonly windows: readonly { readonly remaining: number; readonly resetAt: number }[];
}
