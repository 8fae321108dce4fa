import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import { announcedAheadMsMax, type StorageFeatures } from '@tocsin/shared/ports/engine.ts';

/**
 * How long ago a value was current at most. Access that ended without a notification ends open streams at their next
 * check, so both together stay below the guaranteed five seconds, and reads of other nodes show a change within two
 * seconds.
 */
export const freshMs = 1_800;
/** The interval of reads; two of them may fail or be late before values are read again. */
const everyMs = 600;
/** The maximum age of a value without a known change: changes by other programs, or by nodes of a former version. */
const keptMs = 10 * 60_000;
/** Values read before the end of a change may be those before it. */
const changingMs = announcedAheadMsMax;
/** Known changes. With more, every value counts as changed. */
const changesMax = 20_000;

export interface ChangeWatchOptions {
  readonly storage: Pick<StorageFeatures, 'changesSince'>;
  /** Monotonic. */
  readonly clock: Clock;
}

/**
 * Reads the announcements of changed documents, so that cached values without a change need not be read again, however
 * many they are. While announcements cannot be read, no value counts as current. Without announcements, none ever does.
 */
export class ChangeWatch {
  readonly #changesSince: StorageFeatures['changesSince'];
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  #position: number | null = null;
  /** All changes announced until then are known. */
  #knownUntil = -Infinity;
  /** The latest change of each document; the oldest first. */
  readonly #changedAt = new Map<string, number>();
  #allChangedAt = Infinity;

  constructor({ storage, clock }: ChangeWatchOptions) {
    this.#changesSince = storage.changesSince;
    this.#clock = clock;
  }

  /** Reads until `close`. */
  start(): void {
    if (this.#changesSince !== undefined) void this.#watch();
  }

  /** Does not wait for a read under way. */
  close(): void {
    this.#stopping.abort();
  }

  /** Whether a document read at this time is known not to have changed until 1.8 s ago. */
  isCurrent(id: string, readAt: number): boolean {
    const now = this.#clock();
    if (now - this.#knownUntil >= freshMs || now - readAt >= keptMs) return false;
    return readAt > Math.max(this.#allChangedAt, this.#changedAt.get(id) ?? -Infinity) + changingMs;
  }

  /** Reads the announcements once. Throws `unavailable`. */
  async read(): Promise<void> {
    const startedAt = this.#clock();
    const { position, ids } = await this.#changesSince!(this.#position);
    const now = this.#clock();
    if (ids === 'all') this.#allChangedAt = now;
    else for (const id of ids) this.#changed(id, now);
    this.#dropEnded(now);
    this.#position = position;
    this.#knownUntil = startedAt;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.read().catch(() => undefined); // the next one covers the same changes
      await pause(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  #changed(id: string, now: number): void {
    this.#changedAt.delete(id);
    this.#changedAt.set(id, now);
    if (this.#changedAt.size <= changesMax) return;
    this.#changedAt.clear();
    this.#allChangedAt = now;
  }

  /** Values that a change concerned longer ago are read again because of their age. */
  #dropEnded(now: number): void {
    for (const [id, changedAt] of this.#changedAt) {
      if (now - changedAt < keptMs + changingMs) return;
      this.#changedAt.delete(id);
    }
  }
}
