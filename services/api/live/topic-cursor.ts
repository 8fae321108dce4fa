import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Delivery } from './delivery.ts';
import type { FeedUse } from './topic-feeds.ts';

/** Records that arrive while history is read are buffered up to this number; beyond it history is read again. */
const waitingMax = 1_000;
const waitingBytesMax = 1024 * 1024;

export interface CursorOptions {
  readonly topic: Topic;
  readonly use: FeedUse;
}

/** The client's end of a cursor. */
export interface CursorEnd {
  readonly deliver: (delivery: Delivery) => void;
  /** Counts bytes of records that wait for the client; negative when they stop waiting. */
  readonly keep: (bytes: number) => void;
  /** Whether records may wait for the client, instead of being read from history later. */
  readonly mayKeep: () => boolean;
  /** Whether so much is buffered for the client that live records must wait. */
  readonly isFull: () => boolean;
  /** Whether so much is buffered for the client that reading history must wait. */
  readonly mustWait: () => boolean;
  /** Resolves when the client has received the data, or was disconnected because it did not. */
  readonly drained: () => Promise<void>;
  readonly isClosed: () => boolean;
  /** Ends the stream because history cannot be read. */
  readonly fail: (error: unknown) => void;
}

/** The start of a cursor. */
export interface CursorStart {
  /** Messages after this offset are delivered, and changes made after it. */
  readonly after: number;
  /** Whether there may be later messages that the feed has already passed. */
  readonly mustRead: boolean;
}

/**
 * One topic on one stream, from a position into the live feed without gaps or duplicates: listens, reads history,
 * delivers the records buffered meanwhile, and goes live in the same turn of the event loop.
 */
export class TopicCursor {
  readonly #options: CursorOptions;
  /** Delivers nothing before the start. */
  #end: CursorEnd | undefined;
  readonly #stopListening: () => void;
  #waiting: Delivery[] | null = [];
  #waitingBytes = 0;
  #hasOverflowed = false;
  #sent = -1;

  constructor(options: CursorOptions) {
    this.#options = options;
    this.#stopListening = options.use.feed.listen((delivery) => this.#receive(delivery));
  }

  /** Resolves once the stream is live on this topic. Rejects if the store is down. */
  async start(end: CursorEnd, { after, mustRead }: CursorStart): Promise<void> {
    this.#end = end;
    this.#sent = after;
    this.#hasOverflowed ||= mustRead;
    await this.#catchUp(end, after);
  }

  close(): void {
    this.#stopListening();
    this.#take();
    this.#options.use.release();
  }

  async #catchUp(end: CursorEnd, start: number): Promise<void> {
    while (this.#hasOverflowed && !end.isClosed()) {
      this.#hasOverflowed = false;
      await this.#readHistory(end);
    }
    this.#goLive(start);
  }

  /**
   * Keeps records back until the client has received what it was sent. The memory for a slow client is then limited,
   * and a burst does not disconnect a client that reads.
   */
  async #holdBack(end: CursorEnd): Promise<void> {
    this.#waiting = [];
    const start = this.#sent;
    await end.drained();
    await this.#catchUp(end, start);
  }

  async #readHistory({ deliver, mustWait, drained, isClosed }: CursorEnd): Promise<void> {
    const { feed } = this.#options.use;
    for (;;) {
      const { deliveries, isLast } = await feed.after(this.#sent);
      for (const delivery of deliveries) {
        deliver(delivery);
        this.#sent = delivery.offset;
        if (mustWait()) await drained();
        if (isClosed()) return;
      }
      if (isLast) return;
    }
  }

  /** Delivers waiting records: messages that history did not contain, and all changes after `start`. */
  #goLive(start: number): void {
    const waiting = this.#take();
    for (const delivery of waiting) {
      if (this.#waiting !== null)
        this.#keep(delivery); // the client lags again
      else if (delivery.offset > (delivery.type === 'message' ? this.#sent : start)) this.#deliver(delivery);
    }
  }

  #receive(delivery: Delivery): void {
    if (this.#waiting === null) {
      if (delivery.offset > this.#sent) this.#deliver(delivery);
      return;
    }
    this.#keep(delivery);
  }

  #keep(delivery: Delivery): void {
    const waiting = this.#waiting!;
    const isTooMuch = waiting.length >= waitingMax || this.#waitingBytes + delivery.bytes > waitingBytesMax;
    if (isTooMuch || this.#end?.mayKeep() === false) this.#overflow(waiting);
    this.#waiting!.push(delivery);
    this.#addBytes(delivery.bytes);
  }

  /** Returns the waiting records, and goes live. */
  #take(): readonly Delivery[] {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    this.#addBytes(-this.#waitingBytes);
    return waiting;
  }

  #addBytes(bytes: number): void {
    this.#waitingBytes += bytes;
    this.#end?.keep(bytes);
  }

  /** History contains the messages but not the changes, which are few. */
  #overflow(waiting: readonly Delivery[]): void {
    const changes = waiting.filter(({ type }) => type !== 'message');
    this.#waiting = changes.length < waitingMax ? changes : [];
    this.#addBytes(-this.#waitingBytes);
    this.#hasOverflowed = true;
  }

  #deliver(delivery: Delivery): void {
    this.#sent = Math.max(this.#sent, delivery.offset);
    const end = this.#end;
    if (end === undefined) return;
    end.deliver(delivery);
    if (this.#waiting === null && end.isFull()) void this.#holdBack(end).catch(end.fail);
  }
}
