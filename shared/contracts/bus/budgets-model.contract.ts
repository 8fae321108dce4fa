import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { Bus } from '../../ports/bus/bus.ts';
import type { BudgetState, BudgetWindow } from '../../ports/bus/rate-limiter.ts';

const hourMs = 3_600_000;

/** Few callers and windows, so that uses conflict; limits so low that they are reached. */
const callers = ['a', 'b'] as const;
const windowNames = ['minute', 'hour', 'day'] as const;

const step = fc.record({
  kind: fc.constantFrom('take', 'take', 'take', 'peek', 'refund'),
  node: fc.constantFrom(0, 1),
  caller: fc.constantFrom(...callers),
  windows: fc.subarray([...windowNames], { minLength: 1 }),
  limits: fc.record({
    minute: fc.integer({ min: 0, max: 4 }),
    hour: fc.integer({ min: 1, max: 8 }),
    day: fc.integer({ min: 1, max: 12 }),
  }),
});

/** The model of a budget: a number per window, without time. */
class BudgetModel {
  readonly #uses = new Map<string, number>();

  use(kind: 'take' | 'peek', windows: readonly BudgetWindow[]): { accepted: boolean; remaining: number[] } {
    const accepted = windows.every(({ key, limit }) => this.#of(key) < limit);
    if (accepted && kind === 'take') for (const { key } of windows) this.#uses.set(key, this.#of(key) + 1);
    return { accepted, remaining: windows.map(({ key, limit }) => Math.max(0, limit - this.#of(key))) };
  }

  refund(windows: readonly BudgetWindow[]): void {
    for (const { key } of windows) this.#uses.set(key, Math.max(0, this.#of(key) - 1));
  }

  #of(key: string): number {
    return this.#uses.get(key) ?? 0;
  }
}

const shown = ({ accepted, windows }: BudgetState) => ({
  accepted,
  remaining: windows.map(({ remaining }) => remaining),
});

/** Any order of takes, peeks and refunds over the nodes has the same result as one counter per window. */
export async function expectBudgetsAsModel(nodes: readonly [Bus, Bus], now: () => number): Promise<void> {
  const endsAt = now() + 5 * hourMs;
  const spans = { minute: { lengthMs: hourMs }, hour: { lengthMs: 2 * hourMs }, day: { endsAt } };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const model = new BudgetModel();
      const run = randomUUID();
      for (const { kind, node, caller, windows: names, limits } of steps) {
        const windows = names.map((name): BudgetWindow => ({
          key: `{${run}:${caller}}:${name}`,
          limit: limits[name],
          span: spans[name],
        }));
        const bus = nodes[node]!;
        if (kind === 'refund') {
          await bus.refundBudget(windows, now());
          model.refund(windows);
        } else {
          const state = await (kind === 'take' ? bus.takeBudget(windows, now()) : bus.peekBudget(windows, now()));
          expect(shown(state)).toEqual(model.use(kind, windows));
        }
      }
    }),
    { numRuns: 50 },
  );
}
