import { coalescedInterval } from '@tocsin/shared/async/coalesced-timer.ts';
import type { Logger } from '@tocsin/shared/platform/logger.ts';
import { endWithin, type StreamSink } from './stream-sink.ts';

const bytesMaxDefault = 256 * 1024 * 1024;
const reviewMs = 1_000;
/** A client that receives nothing for this long is stalled. */
const stalledAfterMs = 2_000;
/** How long a stalled client may take to receive the reason of the end. */
const endedMsMax = 1_000;

type Sink = Pick<StreamSink, 'bufferedBytes' | 'end' | 'cutOff' | 'onClose'>;

interface Member {
  readonly sink: Sink;
  /** Bytes kept for the client besides those in its buffer. */
  kept: number;
  /** The bytes in the budget's sum. */
  counted: number;
  /** The buffer at the last review, and since when it has not become smaller. */
  buffered: number;
  since: number;
}

/** A stream's part of the budget. */
export interface BudgetShare {
  /** Counts the sink's buffer after a write. */
  written(): void;
  /** Counts bytes kept besides the sink; negative when they are released. */
  keep(bytes: number): void;
}

/**
 * Limits what all streams of a node buffer for their clients. From half of the limit on, streams keep less for each
 * client. At the limit, streams whose clients receive nothing end, the longest stalled first. Streams share the encoded
 * records of a topic, so the sum is an upper bound of the memory.
 */
export class StreamBudget {
  readonly #bytesMax: number;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #members = new Set<Member>();
  readonly #stopReviews: () => void;
  #bytes = 0;

  constructor({ log, bytesMax = bytesMaxDefault }: { log: Pick<Logger, 'warn'>; bytesMax?: number }) {
    this.#log = log;
    this.#bytesMax = bytesMax;
    this.#stopReviews = coalescedInterval(reviewMs, () => this.review(performance.now()), { isBackground: true });
  }

  /** Bytes that the streams buffer, as of the last write or review. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether half of the limit is used, so that streams should keep less for each client. */
  get isHalfUsed(): boolean {
    return this.#bytes > this.#bytesMax / 2;
  }

  /** Adds a stream until its sink closes. */
  join(sink: Sink): BudgetShare {
    const member: Member = { sink, kept: 0, counted: 0, buffered: 0, since: performance.now() };
    this.#members.add(member);
    sink.onClose(() => this.#forget(member));
    return {
      written: () => this.#count(member),
      keep: (bytes) => {
        member.kept += bytes;
        this.#count(member);
      },
    };
  }

  /** Counts again, and ends stalled streams while the sum exceeds the limit. Called every second. */
  review(now: number): void {
    for (const member of this.#members) {
      this.#count(member);
      const { bufferedBytes } = member.sink;
      if (bufferedBytes === 0 || bufferedBytes < member.buffered) member.since = now;
      member.buffered = bufferedBytes;
    }
    if (this.#bytes <= this.#bytesMax) return;
    const stalled = [...this.#members]
      .filter(({ buffered, since }) => buffered > 0 && now - since >= stalledAfterMs)
      .sort((a, b) => a.since - b.since);
    let ended = 0;
    for (const member of stalled) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#end(member);
      ended += 1;
    }
    this.#log.warn({ bytes: this.#bytes, ended }, 'streams buffer too much, ended those whose clients do not read');
  }

  close(): void {
    this.#stopReviews();
    this.#members.clear();
  }

  /** Its memory is released when the connection closes, at most a second later. */
  #end(member: Member): void {
    this.#forget(member);
    endWithin(member.sink, 'too-slow', endedMsMax);
  }

  #forget(member: Member): void {
    this.#members.delete(member);
    this.#bytes -= member.counted;
    member.counted = 0;
  }

  #count(member: Member): void {
    if (!this.#members.has(member)) return;
    const bytes = member.sink.bufferedBytes + member.kept;
    this.#bytes += bytes - member.counted;
    member.counted = bytes;
  }
}
