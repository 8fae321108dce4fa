import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { topicConnections } from '@tocsin/shared/domain/messages/channels.ts';
import type { CredentialRef } from '@tocsin/shared/domain/accounts/credentials.ts';
import { LimitReached } from '@tocsin/shared/domain/errors.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import type { Bus } from '@tocsin/shared/ports/bus.ts';
import type { Change, Directory } from '../directory/directory.ts';
import type { EndReason, StreamSink } from './stream-sink.ts';

const pingMs = 25_000;
/** With the age that the directory allows, access that ended without a word on the bus ends its streams within 5 s. */
const recheckMs = 2_000;
/** How often this node tells its counts, at most; half of it is the delay after a change. */
const announceMs = 1_000;
/** Counts are forgotten after 15 s, so they are told again well before. */
const announceAgainMs = 5_000;

/** When to ask again for a place among as many streams as there may be: nobody knows when one of them ends. */
const retryMs = 5_000;

const judgedAtOnce = 100;
/** How often it is looked whether the clients of ended streams have gone. */
const closeLookMs = 50;

export interface OpenStreamsDeps {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly directory: Directory;
  readonly log: Logger;
  readonly nodeId: string;
}

/** A stream that is open on this node. */
export interface OpenStream {
  readonly sink: Pick<StreamSink, 'ping' | 'end' | 'cutOff' | 'onClose'>;
  readonly topicIds: readonly string[];
  readonly caller: Caller;
  /** What the caller is known by; null for nobody. */
  readonly credential: CredentialRef | null;
  /** Null while the stream may go on, else why it has to end. Rejects when that cannot be told now. */
  readonly judge: () => Promise<EndReason | null>;
}

/** Whose a stream is, and how many that may have open. */
export interface StreamOwner {
  readonly key: string;
  readonly max: number;
}

/** A place among an owner's streams. */
export interface StreamPlace {
  /** Gives it back; once. */
  release(): void;
}

/** All streams of this node: pings them, ends those whose access has ended, and tells the other nodes how many there are. */
export class OpenStreams {
  readonly #streams = new Set<OpenStream>();
  readonly #counts = new Map<string, number>();
  /** What the other nodes were told last. */
  #announced: ReadonlyMap<string, number> = new Map();
  readonly #deps: OpenStreamsDeps;
  readonly #timers: NodeJS.Timeout[];
  readonly #stopListening: () => void;
  #announcing: NodeJS.Timeout | undefined;
  readonly #toJudge = new Set<OpenStream>();
  #isJudging = false;
  #isRechecking = false;

  constructor(deps: OpenStreamsDeps) {
    this.#deps = deps;
    this.#timers = [
      setInterval(() => this.#ping(), pingMs),
      setInterval(() => void this.#recheck(), recheckMs),
      setInterval(() => void this.#announce(), announceAgainMs),
    ];
    for (const timer of this.#timers) timer.unref();
    this.#stopListening = deps.directory.onChange((change) => this.#onChange(change));
  }

  /**
   * Takes a place among the owner's streams, before the stream opens: exact for this node, however many open at once; of
   * the other nodes it counts what they told last. Throws `limited` when there is none.
   */
  async reserve(owner: StreamOwner): Promise<StreamPlace> {
    const elsewhere = Number.isFinite(owner.max) ? await this.#countElsewhere(owner.key) : 0;
    // From here to the count nothing is awaited.
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

  /** Shows the streams in the headers, and not the budget of requests or publishes, which has room. */
  #full({ max }: StreamOwner): LimitReached {
    const now = this.#deps.clock();
    return new LimitReached('Too many open streams', { limit: max, resetAt: now + retryMs }, now);
  }

  /** Holds the stream, and its place, until its sink closes. */
  add(place: StreamPlace, stream: OpenStream): void {
    const topics = stream.topicIds.map(topicConnections);
    this.#streams.add(stream);
    this.#count(topics, 1);
    stream.sink.onClose(() => {
      this.#streams.delete(stream);
      this.#toJudge.delete(stream);
      this.#count(topics, -1);
      place.release();
    });
  }

  /** Streams under the key: this node's as they are now, those of the others as they told last. */
  async count(key: string): Promise<number> {
    return (await this.#countElsewhere(key)) + (this.#counts.get(key) ?? 0);
  }

  /** While the bus is away each node counts its own. */
  async #countElsewhere(key: string): Promise<number> {
    const everywhere = await this.#deps.bus.countConnections(key).catch(() => 0);
    return Math.max(0, everywhere - (this.#announced.get(key) ?? 0));
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Ends all streams, in waves over the time given, so that their clients do not come back all at once. Resolves when they are
   * closed; those whose clients do not take their end within `graceMs` more are cut off.
   */
  async endAll({ overMs, graceMs }: { overMs: number; graceMs: number }): Promise<void> {
    const waves = 10;
    const all = [...this.#streams];
    for (let wave = 0; wave < waves && all.length > 0; wave += 1) {
      for (const stream of all.splice(0, Math.ceil(all.length / (waves - wave)))) stream.sink.end('restart');
      if (all.length > 0) await pause(overMs / waves);
    }
    for (const { sink } of this.#streams) sink.end('restart'); // those that opened meanwhile, too
    for (let waitedMs = 0; waitedMs < graceMs && this.#streams.size > 0; waitedMs += closeLookMs)
      await pause(closeLookMs);
    for (const { sink } of this.#streams) sink.cutOff();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#announcing);
    this.#stopListening();
    await this.endAll({ overMs: 0, graceMs: 0 });
    this.#counts.clear();
    await this.#announce();
  }

  #ping(): void {
    for (const { sink } of this.#streams) sink.ping();
  }

  #onChange(change: Change): void {
    for (const stream of this.#streams) if (concerns(change, stream)) this.#toJudge.add(stream);
    void this.#judgeWaiting();
  }

  async #recheck(): Promise<void> {
    if (this.#isRechecking || this.#streams.size === 0) return;
    this.#isRechecking = true;
    const ids = { topics: new Set<string>(), users: new Set<string>(), sessions: new Set<string>() };
    for (const { topicIds, caller, credential } of this.#streams) {
      for (const id of topicIds) ids.topics.add(id);
      if (caller.kind === 'account') ids.users.add(caller.userId);
      if (credential?.kind === 'login') ids.sessions.add(credential.sessionId);
    }
    await this.#deps.directory.refresh(ids);
    this.#isRechecking = false;
    for (const stream of this.#streams) this.#toJudge.add(stream);
    await this.#judgeWaiting();
  }

  /** Judges what waits, in turns of the event loop, so that thousands of streams hold nothing else up. */
  async #judgeWaiting(): Promise<void> {
    if (this.#isJudging) return;
    this.#isJudging = true;
    while (this.#toJudge.size > 0) {
      const batch = [...this.#toJudge].slice(0, judgedAtOnce);
      for (const stream of batch) this.#toJudge.delete(stream);
      await Promise.all(batch.map((stream) => this.#judge(stream)));
      await nextTurn();
    }
    this.#isJudging = false;
  }

  async #judge(stream: OpenStream): Promise<void> {
    const { caller, sink } = stream;
    const hasExpired =
      caller.kind !== 'anonymous' && caller.expiresAt !== null && caller.expiresAt <= this.#deps.clock();
    // Whose access cannot be judged now goes on: the next look judges it.
    const reason = hasExpired ? 'credential-ended' : await stream.judge().catch(() => null);
    if (reason !== null) sink.end(reason);
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
      this.#announced = counts;
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'connection counts wait for the bus');
    }
  }
}

/** Whether the change can have ended the stream's access. */
function concerns(change: Change, { caller, credential, topicIds }: OpenStream): boolean {
  switch (change.kind) {
    case 'topic':
      return topicIds.includes(change.topic.id);
    case 'user':
      // A topic token hangs on accounts that its stream does not know.
      return caller.kind === 'topic-token' || (caller.kind === 'account' && caller.userId === change.userId);
    case 'member':
      return caller.kind === 'account' && caller.userId === change.userId;
    case 'session':
      return credential?.kind === 'login' && credential.sessionId === change.sessionId;
    case 'api-key':
    case 'topic-token':
      return credential?.kind === change.kind && credential.secretHash === change.secretHash;
    case 'team':
      return false; // reading goes on in a team that is deactivated
  }
}
