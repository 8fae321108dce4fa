import type { Clock } from '../../../platform/clock.ts';

interface Observation {
  readonly offset: number | null;
  /** The end offset when this offset was first seen. */
  readonly firstEnd: number;
  /** When the end was first seen ahead of this offset; null if it is not ahead. */
  readonly laggingSince: number | null;
}

/** Longer than any pause of a healthy broker, and a delay that readers tolerate. */
const stalledAfterMs = 15_000;

/** Detects readers that make no progress although the partition has more records. */
export class StallWatch {
  readonly #now: Clock;
  readonly #observations = new Map<number, Observation>();

  constructor(now: Clock = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Returns whether the partition's reader is stalled. A reader with an unknown offset (null) lags if the end has
   * advanced since the first check.
   */
  isStalled(partition: number, { offset, end }: { offset: number | null; end: number }): boolean {
    const known = this.#observations.get(partition);
    const previous = known?.offset === offset ? known : undefined;
    const firstEnd = previous?.firstEnd ?? end;
    const isLagging = end > (offset ?? firstEnd);
    const laggingSince = isLagging ? (previous?.laggingSince ?? this.#now()) : null;
    this.#observations.set(partition, { offset, firstEnd, laggingSince });
    return laggingSince !== null && this.#now() - laggingSince >= stalledAfterMs;
  }

  /** Resets all partitions. */
  clear(): void {
    this.#observations.clear();
  }
}
