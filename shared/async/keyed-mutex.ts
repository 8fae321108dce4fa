import { isUnavailable } from '../domain/errors.ts';
import type { Documents } from '../ports/documents.ts';

/** Limits memory. Further callers run without the mutex, like callers on other nodes. */
const waitingMax = 1_000;

/** One mutex per open store, because tests run several installations in one process. */
const turnsOf = new WeakMap<Documents, KeyedMutex>();

export function documentsMutex(documents: Documents): KeyedMutex {
  let turns = turnsOf.get(documents);
  if (turns === undefined) turnsOf.set(documents, (turns = new KeyedMutex()));
  return turns;
}

/**
 * A keyed mutex: in this process, work of the same key runs one at a time, in order of arrival. It only reduces
 * conflicts; correctness does not depend on it.
 */
export class KeyedMutex {
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves or rejects like the work. Work must not wait for other work of the same key. */
  async run<T>(holderId: string, work: () => Promise<T>): Promise<T> {
    let waiting = this.#waiting.get(holderId);
    if (waiting === undefined) this.#waiting.set(holderId, (waiting = []));
    else if (waiting.length < waitingMax) await new Promise<void>((resolve) => waiting!.push(resolve));
    else return work();
    try {
      return await work();
    } catch (error) {
      // While the store is down, each call needs seconds to fail, so waiting calls run concurrently.
      if (isUnavailable(error)) for (const start of waiting.splice(0)) start();
      throw error;
    } finally {
      const next = waiting.shift();
      if (next !== undefined) next();
      else if (this.#waiting.get(holderId) === waiting) this.#waiting.delete(holderId);
    }
  }

  /** Runs work that waits for its turn of each key. */
  runForAll<T>(keys: Iterable<string>, work: () => Promise<T>): Promise<T> {
    // Sorted, so that two callers never wait for each other.
    const sorted = [...new Set(keys)].sort();
    return sorted.reduceRight<() => Promise<T>>((next, key) => () => this.run(key, next), work)();
  }
}
