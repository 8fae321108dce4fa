import { clockStepMs } from '../domain/escalation/escalation-state.ts';
import type { Collection, Document, Documents } from '../ports/documents.ts';

/** Documents per query. */
const pageSize = 200;

interface Timed extends Document {
  readonly dueAt: number | null;
}

export interface DuePage<T> {
  readonly found: readonly T[];
  readonly isLast: boolean;
}

/**
 * Finds documents that are due, and those that were decided before the clock was set back. The collection has the
 * indexes `byDue` and `byDecision`.
 */
export async function findDue<T extends Timed>(
  documents: Pick<Documents, 'find'>,
  collection: Collection<T>,
  now: number,
): Promise<DuePage<T>> {
  const [due, ahead] = await Promise.all([
    documents.find(collection, { index: 'byDue', equals: {}, from: 0, to: now, limit: pageSize }),
    documents.find(collection, { index: 'byDecision', equals: {}, from: now + clockStepMs + 1, limit: pageSize }),
  ]);
  const found = [...new Map([...due, ...ahead].map((one) => [one.id, one])).values()];
  return { found, isLast: Math.max(due.length, ahead.length) < pageSize };
}
