import { isUnavailable } from '../domain/errors.ts';
import type { Documents } from '../ports/documents.ts';

/** Harm prevented: a crowd that fills the memory. Further ones go without a turn, as those of another node do. */
const waitingMax = 1_000;

/** One for each store that is open, since several whole systems may run in one process. */
const turnsOf = new WeakMap<Documents, HolderTurns>();

export function holderTurns(documents: Documents): HolderTurns {
  let turns = turnsOf.get(documents);
  if (turns === undefined) turnsOf.set(documents, (turns = new HolderTurns()));
  return turns;
}

/**
 * Lets work for the same holder run one at a time in this process, in order of arrival. It bounds nothing but the effort: what has
 * to be exact is so without it.
 */
export class HolderTurns {
  readonly #waiting = new Map<string, (() => void)[]>();

  /** The work's value or error. Work must not wait for other work of the same holder. */
  async run<T>(holderId: string, work: () => Promise<T>): Promise<T> {
    let waiting = this.#waiting.get(holderId);
    if (waiting === undefined) this.#waiting.set(holderId, (waiting = []));
    else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting!.push(resolve));
    else return work();
    try {
      return await work();
    } catch (error) {
      // While the store is away each would take seconds to find that out: they do so together.
      if (isUnavailable(error)) for (const go of waiting.splice(0)) go();
      throw error;
    } finally {
      const next = waiting.shift();
      if (next !== undefined) next();
      else if (this.#waiting.get(holderId) === waiting) this.#waiting.delete(holderId);
    }
  }
}
