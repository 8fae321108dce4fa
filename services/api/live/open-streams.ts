import type { Presence } from '@tocsin/shared/ports/bus/presence.ts';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { coalescedInterval } from '@tocsin/shared/async/coalesced-timer.ts';
import { topicConnections } from '@tocsin/shared/domain/messages/channels.ts';
import { LimitReached } from '@tocsin/shared/domain/errors.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Change, Directory } from '../directory/directory.ts';
import { StreamIndex, type StreamAccess } from './stream-index.ts';
import { StreamPings } from './stream-pings.ts';
import { endWithin, type EndReason, type StreamSink } from './stream-sink.ts';

/**
 * With the directory's 1.8 s and `endedMsMax`, access that ended without a notification closes connections within the
 * guaranteed 5 s.
 */
const recheckMs = 2_000;
/** Destroys the connection of an ended stream after this time. */
const endedMsMax = 1_000;
/** The minimum interval between reports of this node's counts; half of it is the delay after a change. */
const announceMs = 1_000;
/** Counts expire after 15 s, so they are reported again well before. */
const announceAgainMs = 5_000;

/** Retry-After at the limit of open streams, because the end of a stream is unknown. */
const retryMs = 5_000;

const authorizedPerRound = 100;
/** The interval of checks whether the clients of ended streams have disconnected. */
const closeLookMs = 50;

export interface OpenStreamsDeps {
  readonly bus: Presence;
  readonly clock: Clock;
  readonly directory: Directory;
  readonly log: Logger;
  readonly nodeId: string;
}

/** An open stream of this node. */
export interface OpenStream extends StreamAccess {
  readonly sink: Pick<StreamSink, 'end' | 'cutOff' | 'isClosed' | 'onClose'>;
  /** Keeps the connection open; called every 25 seconds. */
  ping(): void;
  /** Null while the stream may continue, otherwise the reason to end it. Rejects if access cannot be checked now. */
  readonly authorize: () => Promise<EndReason | null>;
}

/** The owner of a stream and its limit of open streams. */
export interface StreamOwner {
  readonly key: string;
  readonly max: number;
}

/** A slot of an owner's streams. */
export interface StreamSlot {
  /** Releases it; idempotent. */
  release(): void;
}

/** All streams of this node: pings them, ends those without access, and reports their numbers to other nodes. */
export class OpenStreams {
  readonly #streams = new Set<OpenStream>();
  readonly #index = new StreamIndex<OpenStream>();
  readonly #counts = new Map<string, number>();
  readonly #deps: OpenStreamsDeps;
  readonly #pings = new StreamPings();
  readonly #stopTimers: readonly (() => void)[];
  readonly #stopListening: () => void;
  #announcing: NodeJS.Timeout | undefined;
  readonly #toAuthorize = new Set<OpenStream>();
  #isAuthorizing = false;
  #isRechecking = false;

  constructor(deps: OpenStreamsDeps) {
    this.#deps = deps;
    this.#stopTimers = [
      coalescedInterval(recheckMs, () => void this.#recheck(), { isBackground: true }),
      coalescedInterval(announceAgainMs, () => void this.#announce(), { isBackground: true }),
    ];
    this.#stopListening = deps.directory.onChange((change) => this.#onChange(change));
  }

  /**
   * Takes a slot of the owner's streams before the stream opens. Exact for this node under concurrent opens; for
   * other nodes it uses their last report. Throws `limited` at the limit.
   */
  async reserve(owner: StreamOwner): Promise<StreamSlot> {
    const elsewhere = Number.isFinite(owner.max) ? await this.#countElsewhere(owner.key) : 0;
    // No await between here and the count.
    if ((this.#counts.get(owner.key) ?? 0) + elsewhere >= owner.max) throw this.#full(owner);
    this.#count([owner.key], 1);
    let isReleased = false;
    return {
      release: () => {
        if (!isReleased) this.#count([owner.key], -1);
        isReleased = true;
      },
    };
  }

  /** The headers show the limit of streams instead of the rate limit, which is not exhausted. */
  #full({ max }: StreamOwner): LimitReached {
    const now = this.#deps.clock();
    return new LimitReached('Too many open streams', { limit: max, resetAt: now + retryMs }, now);
  }

  /** Registers the stream with its slot until its sink closes. */
  add(slot: StreamSlot, stream: OpenStream): void {
    const topics = stream.topicIds.map(topicConnections);
    this.#streams.add(stream);
    this.#index.add(stream);
    this.#pings.add(stream);
    this.#count(topics, 1);
    stream.sink.onClose(() => {
      this.#streams.delete(stream);
      this.#index.delete(stream);
      this.#pings.delete(stream);
      this.#toAuthorize.delete(stream);
      this.#count(topics, -1);
      slot.release();
    });
  }

  /** Counts streams under the key: the current ones of this node and the last report of others. */
  async count(key: string): Promise<number> {
    return (await this.#countElsewhere(key)) + (this.#counts.get(key) ?? 0);
  }

  /** While Redis is unavailable each node counts only its own. */
  async #countElsewhere(key: string): Promise<number> {
    return this.#deps.bus.countConnections(key, this.#deps.nodeId).catch(() => 0);
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Ends all streams in waves over the given time, so that their clients do not reconnect together. Resolves when they
   * are closed; connections that stay open for `graceMs` more are destroyed.
   */
  async endAll({ overMs, graceMs }: { overMs: number; graceMs: number }): Promise<void> {
    const waves = 10;
    const all = [...this.#streams];
    for (let wave = 0; wave < waves && all.length > 0; wave += 1) {
      for (const stream of all.splice(0, Math.ceil(all.length / (waves - wave)))) stream.sink.end('restart');
      if (all.length > 0) await pause(overMs / waves);
    }
    for (const { sink } of this.#streams) sink.end('restart'); // including those opened meanwhile
    for (let waitedMs = 0; waitedMs < graceMs && this.#streams.size > 0; waitedMs += closeLookMs)
      await pause(closeLookMs);
    for (const { sink } of this.#streams) sink.cutOff();
  }

  async close(): Promise<void> {
    for (const stop of this.#stopTimers) stop();
    this.#pings.close();
    clearTimeout(this.#announcing);
    this.#stopListening();
    await this.endAll({ overMs: 0, graceMs: 0 });
    this.#counts.clear();
    await this.#announce();
  }

  #onChange(change: Change): void {
    for (const streams of this.#index.concernedBy(change)) for (const stream of streams) this.#toAuthorize.add(stream);
    void this.#authorizeWaiting();
  }

  async #recheck(): Promise<void> {
    if (this.#isRechecking) return;
    this.#isRechecking = true;
    const { directory } = this.#deps;
    const keys = this.#index.byKind;
    directory.makeRoom(keys);
    await directory.refresh({
      topics: keys.topics.keys(),
      users: keys.users.keys(),
      sessions: keys.sessions.keys(),
      apiKeys: keys.apiKeys.keys(),
      topicTokens: keys.topicTokens.keys(),
    });
    this.#isRechecking = false;
    for (const stream of this.#streams) this.#toAuthorize.add(stream);
    await this.#authorizeWaiting();
  }

  /** Checks queued streams in turns of the event loop, so that thousands of streams do not block other work. */
  async #authorizeWaiting(): Promise<void> {
    if (this.#isAuthorizing) return;
    this.#isAuthorizing = true;
    while (this.#toAuthorize.size > 0) {
      // Taking batches from the front of the set would skip the deleted entries of all earlier batches each time.
      const queue = [...this.#toAuthorize];
      this.#toAuthorize.clear();
      for (let at = 0; at < queue.length; at += authorizedPerRound) {
        const batch = queue.slice(at, at + authorizedPerRound).filter(({ sink }) => !sink.isClosed);
        await Promise.all(batch.map((stream) => this.#authorize(stream)));
        await nextTurn();
      }
    }
    this.#isAuthorizing = false;
  }

  async #authorize(stream: OpenStream): Promise<void> {
    const { caller, sink } = stream;
    const hasExpired =
      caller.kind !== 'anonymous' && caller.expiresAt !== null && caller.expiresAt <= this.#deps.clock();
    // If access cannot be checked now, the stream continues until the next check.
    const reason = hasExpired ? 'credential-ended' : await stream.authorize().catch(() => null);
    if (reason === null || sink.isClosed) return;
    // A client that does not read would keep the connection with the data that it has not received.
    endWithin(sink, reason, endedMsMax);
  }

  #count(keys: readonly string[], by: 1 | -1): void {
    for (const key of keys) {
      const count = (this.#counts.get(key) ?? 0) + by;
      if (count > 0) this.#counts.set(key, count);
      else this.#counts.delete(key);
    }
    this.#announcing ??= setTimeout(() => void this.#announce(), announceMs / 2).unref();
  }

  async #announce(): Promise<void> {
    clearTimeout(this.#announcing);
    this.#announcing = undefined;
    const counts = new Map(this.#counts);
    try {
      await this.#deps.bus.announceConnections(this.#deps.nodeId, counts);
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'could not report connection counts, retrying');
    }
  }
}
