import type { Clock } from '../../../platform/clock.ts';

interface Sight {
  readonly position: number | null;
  /** The end when this position was first seen. */
  readonly firstEnd: number;
  /** When the end was first seen ahead of this position; null while it is not. */
  readonly behindSince: number | null;
}

/** Longer than any pause of a healthy broker, shorter than what a reader of messages puts up with. */
const stalledAfterMs = 15_000;

/** Notices that a partition's end lies ahead while its reader does not move. */
export class StallWatch {
  readonly #now: Clock;
  readonly #sights = new Map<number, Sight>();

  constructor(now: Clock = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Looks at a partition that could be read. A reader whose position is not known (null) is behind only if the end
   * has moved since the first look.
   */
  isStalled(partition: number, { position, end }: { position: number | null; end: number }): boolean {
    const known = this.#sights.get(partition);
    const before = known?.position === position ? known : undefined;
    const firstEnd = before?.firstEnd ?? end;
    const isBehind = end > (position ?? firstEnd);
    const behindSince = isBehind ? (before?.behindSince ?? this.#now()) : null;
    this.#sights.set(partition, { position, firstEnd, behindSince });
    return behindSince !== null && this.#now() - behindSince >= stalledAfterMs;
  }

  /** Forgets what it saw: positions start over. */
  clear(): void {
    this.#sights.clear();
  }
}
