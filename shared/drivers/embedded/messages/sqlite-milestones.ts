import type { Range, SearchStatements } from './sqlite-search-statements.ts';
import type { Condition } from './sqlite-message-conditions.ts';

/** Messages from one milestone to the next. */
const apart = 1_000;
/** Milestones set between two turns of others. */
const perStep = 2;
/** Harm prevented: many large topics filling the memory. A topic of a million messages takes some kilobytes. */
const topicsMax = 100;

interface Kept {
  readonly stamp: string;
  /** Positions of the messages with the ranks 0, 1,000, 2,000, …; null until they are set, for the second page that is asked for. */
  positions: readonly number[] | null;
  isBeingSet: boolean;
}

/**
 * Where in a large topic every thousandth message is, counted from the oldest, so that a deep page does not pass over all that
 * lies before it. Kept while nothing changes, which the stamp tells: what commits there were, and how many messages are shown.
 */
export class Milestones {
  readonly #reader: SearchStatements;
  readonly #kept = new Map<number, Kept>();

  constructor(reader: SearchStatements) {
    this.#reader = reader;
  }

  /** The position of a message with at most the rank, and what is left of the rank; null where nothing is known yet. */
  *before(
    range: Range,
    condition: Condition,
    at: { rank: number; stamp: () => string },
  ): Generator<void, { position: number; left: number } | null, void> {
    const stamp = at.stamp();
    const kept = this.#kept.get(range.topic);
    if (kept?.stamp !== stamp) {
      this.#keep(range.topic, { stamp, positions: null, isBeingSet: false });
      return null;
    }
    if (kept.positions === null) {
      if (kept.isBeingSet) return null;
      kept.isBeingSet = true;
      kept.positions = yield* this.#set(range, condition);
      if (at.stamp() !== stamp) return null; // something was written meanwhile
    }
    const index = Math.min(Math.floor(at.rank / apart), kept.positions.length - 1);
    return index < 0 ? null : { position: kept.positions[index]!, left: at.rank - index * apart };
  }

  #keep(topic: number, kept: Kept): void {
    this.#kept.delete(topic);
    this.#kept.set(topic, kept);
    if (this.#kept.size > topicsMax) this.#kept.delete(this.#kept.keys().next().value!);
  }

  *#set(range: Range, condition: Condition): Generator<void, number[], void> {
    const positions: number[] = [];
    let next = this.#reader.oldestIn(range, condition, { offset: 0, limit: 1 })[0];
    while (next !== undefined) {
      positions.push(next);
      if (positions.length % perStep === 0) yield;
      next = this.#reader.oldestIn({ ...range, after: next }, condition, { offset: apart - 1, limit: 1 })[0];
    }
    return positions;
  }
}
