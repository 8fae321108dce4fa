import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { LimitReached } from '@tocsin/shared/domain/errors.ts';
import {
  anonymousRequestsPerMinute,
  tierInForce,
  tierLimits,
  type Tier,
} from '@tocsin/shared/domain/accounts/tiers.ts';
import type { BudgetState, BudgetWindow, RateLimiter } from '@tocsin/shared/ports/bus/rate-limiter.ts';
import type { Directory } from '../directory/directory.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/** The state of a rate limit after a read or a use, as shown in the `X-RateLimit-*` headers. */
export interface Budget {
  readonly windows: readonly BudgetWindow[];
  readonly state: BudgetState;
}

/** The windows that count a caller's requests; null if none does. */
export interface RateLimits {
  /** Counts a request without a valid credential. */
  takeRequest(address: string, now: number): Promise<Budget | null>;
  /** Returns the caller's publish limit without using it; anonymous callers keep the result of `takeRequest`. */
  peekPublish(caller: Caller, now: number): Promise<Budget | null>;
  /** Counts a publish. Throws `limited` without counting if a window is used up. */
  takePublish(caller: Caller, now: number): Promise<Budget | null>;
  /** Reverts `takePublish`. */
  refundPublish(budget: Budget | null, now: number): Promise<void>;
}

export function rateLimits(deps: { bus: RateLimiter; directory: Directory; isOn: boolean }): RateLimits {
  const { bus } = deps;

  async function publishWindows(caller: Caller, now: number): Promise<BudgetWindow[] | null> {
    if (!deps.isOn || caller.kind === 'anonymous') return null;
    if (caller.kind === 'account') return windowsOfTier(caller.userId, caller.tier, now);
    // A topic token uses the topic owner's rate limit.
    const topic = await deps.directory.topic(caller.topicId);
    const owner = topic === null ? null : await deps.directory.user(topic.ownerId);
    return owner === null ? null : windowsOfTier(owner.id, tierInForce(owner, now), now);
  }

  return {
    async takeRequest(address, now) {
      if (!deps.isOn) return null;
      const windows = [
        { key: `address:{${address}}`, limit: anonymousRequestsPerMinute, span: { lengthMs: minuteMs } },
      ];
      return { windows, state: await bus.takeBudget(windows, now) };
    },
    async peekPublish(caller, now) {
      const windows = await publishWindows(caller, now);
      return windows === null ? null : { windows, state: await bus.peekBudget(windows, now) };
    },
    async takePublish(caller, now) {
      const windows = await publishWindows(caller, now);
      return windows === null ? null : { windows, state: await bus.takeBudget(windows, now) };
    },
    async refundPublish(budget, now) {
      if (budget !== null) await bus.refundBudget(windowsTaken(budget), now);
    },
  };
}

/**
 * The windows in which a use was counted, for its refund; a window that started later with the same key is not
 * refunded.
 */
export function windowsTaken({ windows, state }: Budget): BudgetWindow[] {
  return windows.map((window, index) => ({ ...window, span: { endsAt: state.windows[index]!.resetAt } }));
}

function windowsOfTier(userId: string, tier: Tier, now: number): BudgetWindow[] {
  const limits = tierLimits[tier];
  const key = `publish:{${userId}}`;
  return [
    { key: `${key}:minute`, limit: limits.publishesPerMinute, span: { lengthMs: minuteMs }, isDurable: true },
    { key: `${key}:hour`, limit: limits.publishesPerHour, span: { lengthMs: hourMs }, isDurable: true },
    {
      key: `${key}:day`,
      limit: limits.publishesPerDay,
      span: { endsAt: (Math.floor(now / dayMs) + 1) * dayMs },
      isDurable: true,
    },
  ];
}

/**
 * Returns the window to show: the fewest remaining uses (on a tie the later end); after a refusal the one that blocks
 * longest.
 */
function shownWindow(budget: Budget): { limit: number; remaining: number; resetAt: number } {
  const all = budget.state.windows.map((window, index) => ({ ...window, limit: budget.windows[index]!.limit }));
  const candidates = budget.state.accepted ? all : all.filter((window) => window.remaining <= 0);
  return candidates.reduce((shown, window) =>
    window.remaining < shown.remaining || (window.remaining === shown.remaining && window.resetAt > shown.resetAt)
      ? window
      : shown,
  );
}

/** `X-RateLimit-Limit`, `-Remaining` and `-Reset` (Unix seconds). */
export function rateLimitHeaders(budget: Budget): Record<string, string> {
  return windowHeaders(shownWindow(budget));
}

/** The same for one window. */
export function windowHeaders({
  limit,
  remaining,
  resetAt,
}: {
  limit: number;
  remaining: number;
  resetAt: number;
}): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(Math.max(0, remaining)),
    'X-RateLimit-Reset': String(Math.ceil(resetAt / 1000)),
  };
}

/** Throws LimitReached with the window that blocks longest if the use was refused. */
export function requireBudget(budget: Budget | null, now: number, detail = 'Rate limit exceeded'): void {
  if (budget !== null && !budget.state.accepted) throw new LimitReached(detail, shownWindow(budget), now);
}
