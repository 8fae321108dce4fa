import { expect, test } from '@jest/globals';
import type { BudgetWindow } from '@tocsin/shared/ports/bus.ts';
import fc from 'fast-check';
import { rateLimitHeaders, requireBudget, type Budget } from './rate-limit.ts';

const now = Date.UTC(2026, 10, 21, 23, 59, 30);

/** Three windows as they may stand; few figures, so that there are ties. */
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
      // A use that was accepted may have been the last one of a window.
      state: {
        accepted: isTaken || windows.every(({ remaining }) => remaining > 0),
        windows: windows.map(({ remaining, resetInMs }) => ({ remaining, resetAt: now + resetInMs })),
      },
    })),
  );

/** The window that the sentence means: the least remaining, of these the latest to end; refused, of those that block the latest. */
function expected({ windows, state }: Budget) {
  const all = state.windows.map((window, index) => ({ ...window, limit: windows[index]!.limit }));
  const least = Math.min(...all.map(({ remaining }) => remaining));
  const candidates = all.filter(({ remaining }) => (state.accepted ? remaining === least : remaining === 0));
  const latest = Math.max(...candidates.map(({ resetAt }) => resetAt));
  return candidates.find(({ resetAt }) => resetAt === latest)!;
}

test('the headers show the window with the least remaining, the later one of a tie, refused the one that blocks longest', () => {
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

test('a tie of windows with other limits shows the limit of the later one', () => {
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
