import type { Topic } from '@tocsin/shared/domain/topic.ts';
import type { History } from '@tocsin/shared/stores/history.ts';
import { Delivery } from './delivery.ts';
import type { Position } from './resolve-position.ts';
import type { FeedUse } from './topic-feeds.ts';

/** What comes while history is read waits here; beyond it history is read once more instead. */
const waitingMax = 1_000;
const historyPage = 500;

export interface CursorOptions {
  readonly topic: Topic;
  readonly use: FeedUse;
  readonly history: History;
  /** Null starts live. */
  readonly position: Position | null;
  readonly deliver: (delivery: Delivery) => void;
  /** Whether the client has so much to take that history has to wait for it. */
  readonly mustWait: () => boolean;
  /** Resolves when the client has taken what it was given. */
  readonly drained: () => Promise<void>;
  readonly isClosed: () => boolean;
}

/**
 * One topic on one stream, from a position into the live feed without gap or repeat: listen first, read history
 * second, hand on what came meanwhile third, and go live in the same turn of the event loop.
 */
export class TopicCursor {
  readonly topic: Topic;
  readonly #options: CursorOptions;
  readonly #stopListening: () => void;
  #waiting: Delivery[] | null = [];
  #hasOverflowed = false;
  #sent = -1;

  constructor(options: CursorOptions) {
    this.topic = options.topic;
    this.#options = options;
    this.#stopListening = options.use.feed.listen((delivery) => this.#receive(delivery));
  }

  /** Resolves once the stream is live on this topic. Rejects when the store is away. */
  async start(): Promise<void> {
    const { history, topic, position, isClosed } = this.#options;
    // What was published before a stream without a position began is not its matter, wherever the feed is.
    const start = position === null ? (await history.top(topic)).last : position.after;
    this.#sent = start;
    let mustRead = position !== null;
    while ((mustRead || this.#hasOverflowed) && !isClosed()) {
      mustRead = false;
      this.#hasOverflowed = false;
      await this.#readHistory();
    }
    this.#goLive(start);
  }

  close(): void {
    this.#stopListening();
    this.#waiting = null;
    this.#options.use.release();
  }

  async #readHistory(): Promise<void> {
    const { history, topic, deliver, mustWait, drained, isClosed } = this.#options;
    for (;;) {
      const page = await history.after(topic, this.#sent, historyPage);
      for (const message of page) {
        deliver(new Delivery({ offset: message.offset, type: 'message', message }, topic.name));
        this.#sent = message.offset;
        if (mustWait()) await drained();
        if (isClosed()) return;
      }
      if (page.length < historyPage) return;
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
    } else if (this.#waiting.length < waitingMax) {
      this.#waiting.push(delivery);
    } else {
      this.#waiting = [];
      this.#hasOverflowed = true;
    }
  }

  #deliver(delivery: Delivery): void {
    this.#sent = Math.max(this.#sent, delivery.offset);
    this.#options.deliver(delivery);
  }
}
