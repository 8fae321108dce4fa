import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '@tocsin/shared/domain/caller.ts';
import { topicConnections } from '@tocsin/shared/domain/channels.ts';
import type { Log } from '@tocsin/shared/platform/log.ts';
import type { Bus } from '@tocsin/shared/ports/bus.ts';
import type { Change, Directory } from '../directory/directory.ts';
import type { EndReason, StreamSink } from './stream-sink.ts';

const pingMs = 25_000;
/** With the directory's 5 s, access that ended without a word on the bus still ends its streams soon. */
const recheckMs = 2_500;
/** How often this node tells its counts, at most; half of it is the delay after a change. */
const announceMs = 1_000;
/** Counts are forgotten after 15 s, so they are told again well before. */
const announceAgainMs = 5_000;

const judgedAtOnce = 100;

/** A stream that is open on this node. */
export interface OpenStream {
  readonly sink: StreamSink;
  readonly topicIds: readonly string[];
  /** Whose stream it is: what the limits on open streams count. */
  readonly ownerKey: string;
  readonly caller: Caller;
  /** Null while the stream may go on, else why it has to end. Rejects when that cannot be told now. */
  readonly judge: () => Promise<EndReason | null>;
}

/** All streams of this node: pings them, ends those whose access has ended, and tells the other nodes how many there are. */
export class OpenStreams {
  readonly #streams = new Set<OpenStream>();
  readonly #counts = new Map<string, number>();
  readonly #deps: { bus: Bus; directory: Directory; log: Log; nodeId: string };
  readonly #timers: NodeJS.Timeout[];
  readonly #stopListening: () => void;
  #announcing: NodeJS.Timeout | undefined;
  readonly #toJudge = new Set<OpenStream>();
  #isJudging = false;

  constructor(deps: { bus: Bus; directory: Directory; log: Log; nodeId: string }) {
    this.#deps = deps;
    this.#timers = [
      setInterval(() => this.#ping(), pingMs),
      setInterval(() => this.#recheck(), recheckMs),
      setInterval(() => void this.#announce(), announceAgainMs),
    ];
    for (const timer of this.#timers) timer.unref();
    this.#stopListening = deps.directory.onChange((change) => this.#onChange(change));
  }

  /** Holds the stream until its sink closes. */
  add(stream: OpenStream): void {
    this.#streams.add(stream);
    this.#count(stream, 1);
    stream.sink.onClose(() => {
      if (!this.#streams.delete(stream)) return;
      this.#toJudge.delete(stream);
      this.#count(stream, -1);
    });
  }

  /** Open streams of the owner: on this node for certain, on the others as they last told. */
  async countOf(ownerKey: string): Promise<number> {
    const here = this.#counts.get(ownerKey) ?? 0;
    const everywhere = await this.#deps.bus.countConnections(ownerKey).catch(() => 0); // while the bus is away each node counts its own
    return Math.max(here, everywhere);
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Ends all streams, in waves over the time given, so that their clients do not come back all at once. */
  async endAll(overMs: number): Promise<void> {
    const waves = 10;
    const all = [...this.#streams];
    for (let wave = 0; wave < waves && all.length > 0; wave += 1) {
      for (const stream of all.splice(0, Math.ceil(all.length / (waves - wave)))) stream.sink.end('restart');
      if (all.length > 0) await new Promise((resolve) => setTimeout(resolve, overMs / waves));
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#announcing);
    this.#stopListening();
    await this.endAll(0);
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

  #recheck(): void {
    for (const stream of this.#streams) this.#toJudge.add(stream);
    void this.#judgeWaiting();
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
    // Whose access cannot be judged now goes on: the next look judges it.
    const reason = await stream.judge().catch(() => null);
    if (reason !== null) stream.sink.end(reason);
  }

  #count(stream: OpenStream, by: 1 | -1): void {
    for (const key of [stream.ownerKey, ...stream.topicIds.map(topicConnections)]) {
      const count = (this.#counts.get(key) ?? 0) + by;
      if (count > 0) this.#counts.set(key, count);
      else this.#counts.delete(key);
    }
    this.#announcing ??= setTimeout(() => void this.#announce(), announceMs / 2).unref();
  }

  async #announce(): Promise<void> {
    clearTimeout(this.#announcing);
    this.#announcing = undefined;
    try {
      await this.#deps.bus.announceConnections(this.#deps.nodeId, this.#counts);
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'connection counts wait for the bus');
    }
  }
}

/** Whether the change can have ended the stream's access. */
function concerns(change: Change, { caller, topicIds }: OpenStream): boolean {
  switch (change.kind) {
    case 'topic':
      return topicIds.includes(change.topic.id);
    case 'user':
    case 'member':
      return caller.kind === 'account' && caller.userId === change.userId;
    case 'session':
      return caller.kind === 'account' && caller.credentialId === change.sessionId;
    case 'api-key':
      return caller.kind === 'account' && caller.scopes !== null;
    case 'topic-token':
      return caller.kind === 'topic-token';
    case 'team':
      return false; // reading goes on in a team that is deactivated
  }
}
