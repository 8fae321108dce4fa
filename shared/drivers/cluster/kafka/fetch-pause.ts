import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { CollectTimes } from '../../../ports/event-log.ts';
import { collectingMs } from '../../collecting-ms.ts';

/**
 * The pause between fetches, in which records collect. The batches of a fetch, one per partition, share it, so that it
 * depends on all their records.
 */
export class FetchPause {
  readonly #times: CollectTimes;
  readonly #pauseFor: (ms: number) => Promise<unknown>;
  #records = 0;
  #pausing: Promise<void> | undefined;

  constructor(times: CollectTimes, pauseFor: (ms: number) => Promise<unknown> = pause) {
    this.#times = times;
    this.#pauseFor = pauseFor;
  }

  /** Resolves when the next fetch may begin after a batch of so many records. */
  after(records: number): Promise<void> {
    this.#records += records;
    return (this.#pausing ??= this.#pause());
  }

  async #pause(): Promise<void> {
    await nextTurn(); // kafkajs hands over the batches of a fetch in one turn
    const ms = collectingMs(this.#times, this.#records);
    this.#records = 0;
    await this.#pauseFor(ms);
    this.#pausing = undefined;
  }
}
