import type { BudgetWindow } from '@tocsin/shared/ports/bus/rate-limiter.ts';
import type { ApiDeps } from '../api-deps.ts';
import { requireBudget, windowsTaken, type Budget } from '../http/rate-limit.ts';

/** The uses that some work needs. */
export interface Use<T> {
  /**
   * Each set is counted as a whole. The keys of a set are on one node of a Redis Cluster, those of two sets may not be.
   */
  readonly sets: readonly (readonly BudgetWindow[])[];
  /** The error text of a refusal. */
  readonly detail?: string;
  /** Whether a result counts as a use; by default every result does. */
  readonly isCounted?: (result: T) => boolean;
}

/**
 * Takes the uses, runs the work, and refunds them if it rejects or its result does not count. Throws `limited` without
 * running it if a set is used up. Concurrent work can therefore not exceed a limit.
 */
export async function withinBudgets<T>(
  deps: Pick<ApiDeps, 'clock' | 'engine'>,
  { sets, detail, isCounted = () => true }: Use<T>,
  work: () => Promise<T>,
): Promise<T> {
  const { bus } = deps.engine;
  const taken: Budget[] = [];
  let counts = false;
  try {
    for (const windows of sets) {
      const now = deps.clock();
      const budget = { windows, state: await bus.takeBudget(windows, now) };
      requireBudget(budget, now, detail);
      taken.push(budget);
    }
    const result = await work();
    counts = isCounted(result);
    return result;
  } finally {
    if (!counts) for (const budget of taken) await bus.refundBudget(windowsTaken(budget), deps.clock());
  }
}
