import type { Clock } from '../../../platform/clock.ts';

interface Sight {
  readonly offset: number | null;
  /** The end offset when this offset was first seen. */
  readonly firstEnd: number;
  /** When the end was first ahead of this offset; null if it is not. */
  readonly behindSince: number | null;
}

/** Longer than any pause of a healthy broker, shorter than readers tolerate. */
const stalledAfterMs = 15_000;

/** Detects that a partition's end is ahead while its reader makes no progress. */
export class StallWatch {
  readonly #now: Clock;
  readonly #sights = new Map<number, Sight>();

  constructor(now: Clock = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Checks a readable partition. A reader with an unknown offset (null) lags only if the end
   * has advanced since the first check.
   */
  isStalled(partition: number, { offset, end }: { offset: number | null; end: number }): boolean {
    const known = this.#sights.get(partition);
    const before = known?.offset === offset ? known : undefined;
    const firstEnd = before?.firstEnd ?? end;
    const isBehind = end > (offset ?? firstEnd);
    const behindSince = isBehind ? (before?.behindSince ?? this.#now()) : null;
    this.#sights.set(partition, { offset, firstEnd, behindSince });
    return behindSince !== null && this.#now() - behindSince >= stalledAfterMs;
  }

  /** Resets all partitions. */
  clear(): void {
    this.#sights.clear();
  }
}
