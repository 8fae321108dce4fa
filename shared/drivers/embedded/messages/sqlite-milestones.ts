import type { Range, SearchStatements } from './sqlite-search-statements.ts';
import type { Condition } from './sqlite-message-conditions.ts';

/** Messages per milestone. */
const apart = 1_000;
/** Milestones per step. */
const perStep = 2;
/** Limits memory. A topic with a million messages takes some kilobytes. */
const topicsMax = 100;

interface Kept {
  readonly stamp: string;
  /** Offsets of the messages with rank 0, 1,000, 2,000, …; null until set, on the second requested page. */
  offsets: readonly number[] | null;
  isBeingSet: boolean;
}

/**
 * Caches the offset of every thousandth message of a large topic, from the oldest, so that a deep page does not skip all
 * earlier rows. Valid while the stamp is unchanged: the commits, and the number of visible messages.
 */
export class Milestones {
  readonly #reader: SearchStatements;
  readonly #kept = new Map<number, Kept>();

  constructor(reader: SearchStatements) {
    this.#reader = reader;
  }

  /** Returns the offset of a message with at most the rank, and the remaining rank; null if unknown. */
  *before(
    range: Range,
    condition: Condition,
    at: { rank: number; stamp: () => string },
  ): Generator<void, { offset: number; left: number } | null, void> {
    const stamp = at.stamp();
    const kept = this.#kept.get(range.topic);
    if (kept?.stamp !== stamp) {
      this.#keep(range.topic, { stamp, offsets: null, isBeingSet: false });
      return null;
    }
    if (kept.offsets === null) {
      if (kept.isBeingSet) return null;
      kept.isBeingSet = true;
      kept.offsets = yield* this.#set(range, condition);
      if (at.stamp() !== stamp) return null; // a concurrent write
    }
    const index = Math.min(Math.floor(at.rank / apart), kept.offsets.length - 1);
    return index < 0 ? null : { offset: kept.offsets[index]!, left: at.rank - index * apart };
  }

  #keep(topic: number, kept: Kept): void {
    this.#kept.delete(topic);
    this.#kept.set(topic, kept);
    if (this.#kept.size > topicsMax) this.#kept.delete(this.#kept.keys().next().value!);
  }

  *#set(range: Range, condition: Condition): Generator<void, number[], void> {
    const offsets: number[] = [];
    let next = this.#reader.oldestIn(range, condition, { offset: 0, limit: 1 })[0];
    while (next !== undefined) {
      offsets.push(next);
      if (offsets.length % perStep === 0) yield;
      next = this.#reader.oldestIn({ ...range, after: next }, condition, { offset: apart - 1, limit: 1 })[0];
    }
    return offsets;
  }
}
