import { expect, test } from '@jest/globals';
import type { BudgetWindow } from '@tocsin/shared/ports/bus/rate-limiter.ts';
import fc from 'fast-check';
import { rateLimitHeaders, requireBudget, type Budget } from './rate-limit.ts';

const now = Date.UTC(2026, 10, 21, 23, 59, 30);

/** Three windows with few distinct values, so that there are ties. */
const budgets: fc.Arbitrary<Budget> = fc
  .array(
    fc.record({
      limit: fc.integer({ min: 3, max: 5 }),
      remaining: fc.integer({ min: 0, max: 3 }),
      resetInMs: fc.constantFrom(1, 999, 1_000, 30_000, 60_000, 3_600_000),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .chain((windows) =>
    fc.boolean().map((isTaken): Budget => ({
      windows: windows.map(({ limit }, index): BudgetWindow => ({
        key: `${index}`,
        limit,
        span: { lengthMs: 60_000 },
      })),
      // An accepted use may be the last of a window.
      state: {
        accepted: isTaken || windows.every(({ remaining }) => remaining > 0),
        windows: windows.map(({ remaining, resetInMs }) => ({ remaining, resetAt: now + resetInMs })),
      },
    })),
  );

/**
 * The expected window: the fewest remaining uses, then the latest end; after a refusal the blocking one with the latest
 * end.
 */
function expected({ windows, state }: Budget) {
  const all = state.windows.map((window, index) => ({ ...window, limit: windows[index]!.limit }));
  const least = Math.min(...all.map(({ remaining }) => remaining));
  const candidates = all.filter(({ remaining }) => (state.accepted ? remaining === least : remaining === 0));
  const latest = Math.max(...candidates.map(({ resetAt }) => resetAt));
  return candidates.find(({ resetAt }) => resetAt === latest)!;
}

test('the headers show the window with the fewest remaining uses, on a tie the later one, after a refusal the one that blocks longest', () => {
  fc.assert(
    fc.property(budgets, (budget) => {
      const window = expected(budget);
      const headers = rateLimitHeaders(budget);
      expect(headers).toMatchObject({
        'X-RateLimit-Remaining': String(window.remaining),
        'X-RateLimit-Reset': String(Math.ceil(window.resetAt / 1_000)),
      });
      if (!budget.state.accepted) {
        expect(headers['X-RateLimit-Remaining']).toBe('0');
        expect(() => requireBudget(budget, now)).toThrow(
          expect.objectContaining({
            limit: window.limit,
            resetAt: window.resetAt,
            retryAfterSeconds: (window.resetAt - now) / 1_000,
          }),
        );
      }
    }),
  );
});

test('on a tie of windows with different limits shows the limit of the later one', () => {
  const budget: Budget = {
    windows: [
      { key: 'minute', limit: 10, span: { lengthMs: 60_000 } },
      { key: 'hour', limit: 100, span: { lengthMs: 3_600_000 } },
    ],
    state: {
      accepted: true,
      windows: [
        { remaining: 4, resetAt: now + 60_000 },
        { remaining: 4, resetAt: now + 3_600_000 },
      ],
    },
  };
  expect(rateLimitHeaders(budget)).toEqual({
    'X-RateLimit-Limit': '100',
    'X-RateLimit-Remaining': '4',
    'X-RateLimit-Reset': String((now + 3_600_000) / 1_000),
  });
});
