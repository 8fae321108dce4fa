import { History } from '@tocsin/shared/operations/messages/history.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import type { MessageIngest } from '@tocsin/shared/ports/messages/message-ingest.ts';
import type { MessageReads } from '@tocsin/shared/ports/messages/message-reads.ts';
import type { Messages } from '@tocsin/shared/ports/messages/messages.ts';
import { TopicFeeds } from './topic-feeds.ts';

/** The reads of the message store that feeds use without resuming streams. */
export type FeedReads = Pick<MessageIngest, 'watermark'> & Pick<MessageReads, 'lastOffsets' | 'records'>;

/** A bus whose connection and payloads the test controls. */
export class TestBus {
  readonly #listeners = new Map<string, (payload: string) => void>();
  readonly #connectedListeners = new Set<(connected: boolean) => void>();
  #isConnected = true;

  get isConnected(): boolean {
    return this.#isConnected;
  }

  setConnected(isConnected: boolean): void {
    this.#isConnected = isConnected;
    for (const listener of this.#connectedListeners) listener(isConnected);
  }

  /** Delivers the payload to the channel's listener. Has no effect while the bus is disconnected. */
  send(channel: string, payload: string): void {
    if (this.#isConnected) this.#listeners.get(channel)?.(payload);
  }

  subscribe(channel: string, listener: (payload: string) => void): Promise<{ close(): Promise<void> }> {
    this.#listeners.set(channel, listener);
    return Promise.resolve({ close: () => Promise.resolve() });
  }

  onConnected(listener: (connected: boolean) => void): () => void {
    this.#connectedListeners.add(listener);
    return () => this.#connectedListeners.delete(listener);
  }
}

/** The feeds of a node without engines. Topics keep their names. */
export function newTopicFeeds({ bus, messages }: { bus: TestBus; messages: FeedReads }): TopicFeeds {
  return new TopicFeeds({
    bus,
    directory: { peekTopic: () => undefined, topic: () => Promise.resolve(null) },
    history: new History(messages as Messages, Date.now),
    clock: Date.now,
    log: openLogger('test', 'silent'),
  });
}
