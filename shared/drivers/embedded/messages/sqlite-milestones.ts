import type { Range, SearchStatements } from './sqlite-search-statements.ts';
import type { Condition } from './sqlite-message-conditions.ts';

/** Messages per milestone. */
const milestoneDistance = 1_000;
/** Milestones per step. */
const milestonesPerStep = 2;
/** Limits memory. A topic with a million messages takes some kilobytes. */
const topicsMax = 100;

interface CachedMilestones {
  readonly stamp: string;
  /** Offsets of the messages with rank 0, 1,000, 2,000, …; loaded for the second requested page, null before. */
  offsets: readonly number[] | null;
  isLoading: boolean;
}

/**
 * Caches the offset of every thousandth message of a large topic, counted from the oldest, so that a deep page need not
 * skip all earlier rows. Valid while the stamp (commits and number of visible messages) is unchanged.
 */
export class Milestones {
  readonly #reader: SearchStatements;
  readonly #cache = new Map<number, CachedMilestones>();

  constructor(reader: SearchStatements) {
    this.#reader = reader;
  }

  /**
   * Returns the offset of the last milestone up to the rank, and the number of messages from there to the rank; null if
   * unknown.
   */
  *find(
    range: Range,
    condition: Condition,
    at: { rank: number; stamp: () => string },
  ): Generator<void, { offset: number; remaining: number } | null, void> {
    const stamp = at.stamp();
    const cached = this.#cache.get(range.topic);
    if (cached?.stamp !== stamp) {
      this.#store(range.topic, { stamp, offsets: null, isLoading: false });
      return null;
    }
    if (cached.offsets === null) {
      if (cached.isLoading) return null;
      cached.isLoading = true;
      cached.offsets = yield* this.#load(range, condition);
      if (at.stamp() !== stamp) return null; // a concurrent write
    }
    const index = Math.min(Math.floor(at.rank / milestoneDistance), cached.offsets.length - 1);
    return index < 0 ? null : { offset: cached.offsets[index]!, remaining: at.rank - index * milestoneDistance };
  }

  #store(topic: number, cached: CachedMilestones): void {
    this.#cache.delete(topic);
    this.#cache.set(topic, cached);
    if (this.#cache.size > topicsMax) this.#cache.delete(this.#cache.keys().next().value!);
  }

  *#load(range: Range, condition: Condition): Generator<void, number[], void> {
    const offsets: number[] = [];
    let next = this.#reader.oldestIn(range, condition, { offset: 0, limit: 1 })[0];
    while (next !== undefined) {
      offsets.push(next);
      if (offsets.length % milestonesPerStep === 0) yield;
      next = this.#reader.oldestIn({ ...range, after: next }, condition, {
        offset: milestoneDistance - 1,
        limit: 1,
      })[0];
    }
    return offsets;
  }
}
