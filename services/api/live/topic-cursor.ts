import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { Delivery } from './delivery.ts';
import type { FeedUse } from './topic-feeds.ts';

/** What comes while history is read waits here; beyond it history is read once more instead. */
const waitingMax = 1_000;

export interface CursorOptions {
  readonly topic: Topic;
  readonly use: FeedUse;
}

/** The client's end of a cursor. */
export interface CursorEnd {
  readonly deliver: (delivery: Delivery) => void;
  /** Whether the client has so much to take that history has to wait for it. */
  readonly mustWait: () => boolean;
  /** Resolves when the client has taken what it was given. */
  readonly drained: () => Promise<void>;
  readonly isClosed: () => boolean;
}

/** Where a cursor starts. */
export interface CursorStart {
  /** Messages behind this position are handed on, and changes of messages that were made behind it. */
  readonly after: number;
  /** Whether there may be messages behind it that the feed has passed already. */
  readonly mustRead: boolean;
}

/**
 * One topic on one stream, from a position into the live feed without gap or repeat: listen first, read history
 * second, hand on what came meanwhile third, and go live in the same turn of the event loop.
 */
export class TopicCursor {
  readonly #options: CursorOptions;
  /** Nothing is handed on before the start. */
  #end: CursorEnd | undefined;
  readonly #stopListening: () => void;
  #waiting: Delivery[] | null = [];
  #hasOverflowed = false;
  #sent = -1;

  constructor(options: CursorOptions) {
    this.#options = options;
    this.#stopListening = options.use.feed.listen((delivery) => this.#receive(delivery));
  }

  /** Resolves once the stream is live on this topic. Rejects when the store is away. */
  async start(end: CursorEnd, { after, mustRead }: CursorStart): Promise<void> {
    this.#end = end;
    this.#sent = after;
    this.#hasOverflowed ||= mustRead;
    while (this.#hasOverflowed && !end.isClosed()) {
      this.#hasOverflowed = false;
      await this.#readHistory(end);
    }
    this.#goLive(after);
  }

  close(): void {
    this.#stopListening();
    this.#waiting = null;
    this.#options.use.release();
  }

  async #readHistory({ deliver, mustWait, drained, isClosed }: CursorEnd): Promise<void> {
    const { feed } = this.#options.use;
    for (;;) {
      const { deliveries, isLast } = await feed.behind(this.#sent);
      for (const delivery of deliveries) {
        deliver(delivery);
        this.#sent = delivery.offset;
        if (mustWait()) await drained();
        if (isClosed()) return;
      }
      if (isLast) return;
    }
  }

  /** Changes of messages have come since the stream began, whatever history has shown meanwhile. */
  #goLive(start: number): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const delivery of waiting) {
      if (delivery.offset > (delivery.type === 'message' ? this.#sent : start)) this.#deliver(delivery);
    }
  }

  #receive(delivery: Delivery): void {
    if (this.#waiting === null) {
      if (delivery.offset > this.#sent) this.#deliver(delivery);
      return;
    }
    if (this.#waiting.length === waitingMax) this.#overflow(this.#waiting);
    this.#waiting.push(delivery);
  }

  /** History has the messages; it does not have the changes, which are few. */
  #overflow(waiting: readonly Delivery[]): void {
    const changes = waiting.filter(({ type }) => type !== 'message');
    this.#waiting = changes.length < waitingMax ? changes : [];
    this.#hasOverflowed = true;
  }

  #deliver(delivery: Delivery): void {
    this.#sent = Math.max(this.#sent, delivery.offset);
    this.#end?.deliver(delivery);
  }
}
