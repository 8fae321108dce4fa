import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { checksumOf } from '@tocsin/shared/platform/ids.ts';
import { announcedAheadMsMax } from '@tocsin/shared/ports/announced-changes.ts';
import type { StorageFeatures } from '@tocsin/shared/ports/engine.ts';

/**
 * How long ago a value was current at most, so that reads of other nodes show a change within two seconds. Access that
 * ended without a notification ends open streams at their next check, and then their connections: together within five
 * seconds.
 */
export const freshMs = 1_800;
/** The interval of reads. Until values are read again, one read may be late by a second. */
const everyMs = 800;
/** The age at which a value is read again without a known change: nodes of a former version announce nothing. */
const keptMsMin = 8 * 60_000;
/** More values are kept for longer, so that their number does not increase the rate of these reads: 18/s on average. */
const keptMsPerValue = 50;
/** Values that were read together are read again during a quarter of that age. */
const spread = 0.25;
const checksums = 2 ** 32;
/** How long changes are known. A value that was not used for this long is read again. */
const rememberedMs = 10 * 60_000;
/** Known changes. With more, every value counts as changed. */
const changesMax = 20_000;

/** Times of a cached value. */
export interface ValueTimes {
  readonly loadedAt: number;
  /** When it was last known to be current; at first `loadedAt`. */
  readonly currentAt: number;
}

export interface ChangeWatchOptions {
  readonly storage: Pick<StorageFeatures, 'changesSince'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Monotonic. */
  readonly clock: Clock;
  /** Returns the number of cached values. */
  readonly countValues: () => number;
}

/**
 * Reads the announcements of changed documents, so that unchanged values need not be read again, however many they are.
 * While announcements cannot be read, or if the store has none, no value counts as current.
 */
export class ChangeWatch {
  readonly #changesSince: StorageFeatures['changesSince'];
  readonly #log: Pick<Logger, 'warn'>;
  readonly #clock: Clock;
  readonly #countValues: () => number;
  readonly #stopping = new AbortController();
  #position: string | null = null;
  #isFailing = false;
  /** All changes announced until then are known. */
  #knownUntil = -Infinity;
  /** The latest change by the checksum of the document's ID; the oldest first. */
  readonly #changedAt = new Map<number, number>();
  #allChangedAt = Infinity;

  constructor({ storage, log, clock, countValues }: ChangeWatchOptions) {
    this.#changesSince = storage.changesSince;
    this.#log = log;
    this.#clock = clock;
    this.#countValues = countValues;
  }

  /** Reads until `close`. */
  start(): void {
    if (this.#changesSince !== undefined) void this.#watch();
  }

  /** Does not wait for a read under way. */
  close(): void {
    this.#stopping.abort();
  }

  /** Whether a document is known not to have changed until 1.8 s ago, and was not read too long ago. */
  isCurrent(id: string, { loadedAt, currentAt }: ValueTimes): boolean {
    const now = this.#clock();
    if (now - this.#knownUntil >= freshMs || now - currentAt >= rememberedMs) return false;
    const checksum = checksumOf(id);
    const changedAt = Math.max(this.#allChangedAt, this.#changedAt.get(checksum) ?? -Infinity);
    if (currentAt <= changedAt + announcedAheadMsMax) return false; // it may be older than the change
    const age = now - loadedAt;
    if (age < keptMsMin) return true;
    const keptMs = Math.max(keptMsMin, this.#countValues() * keptMsPerValue);
    return age < keptMs * (1 + (spread * checksum) / checksums);
  }

  /** Reads the announcements once. Throws `unavailable`. */
  async read(): Promise<void> {
    const startedAt = this.#clock();
    const { position, checksums } = await this.#changesSince!(this.#position);
    const now = this.#clock();
    if (checksums === 'all') this.#allChangedAt = now;
    else for (const checksum of checksums) this.#changed(checksum, now);
    this.#dropEnded(now);
    this.#position = position;
    this.#knownUntil = startedAt;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#readAndLog();
      await pause(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** After a failure, the next read covers the same changes. */
  async #readAndLog(): Promise<void> {
    try {
      await this.read();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#stopping.signal.aborted)
        this.#log.warn({ err: error }, 'could not read which documents changed, reading all again');
      this.#isFailing = true;
    }
  }

  #changed(checksum: number, now: number): void {
    this.#changedAt.delete(checksum);
    this.#changedAt.set(checksum, now);
    if (this.#changedAt.size <= changesMax) return;
    this.#changedAt.clear();
    this.#allChangedAt = now;
  }

  /** Values that a change concerned longer ago are read again because they were not used since. */
  #dropEnded(now: number): void {
    for (const [checksum, changedAt] of this.#changedAt) {
      if (now - changedAt < rememberedMs + announcedAheadMsMax) return;
      this.#changedAt.delete(checksum);
    }
  }
}
