import type { Logger } from '../platform/logger.ts';

/** A subscriber of a channel in this process. */
export interface ChannelListener {
  readonly channel: string;
  readonly receive: (payload: string) => void;
  isClosed: boolean;
}

/** The listeners per channel in this process. */
export class ChannelListeners {
  readonly #log: Logger;
  /** The lists are immutable, so that a delivery reaches exactly the listeners registered at its start. */
  readonly #lists = new Map<string, readonly ChannelListener[]>();

  constructor(log: Logger) {
    this.#log = log;
  }

  add(channel: string, receive: (payload: string) => void): ChannelListener {
    const listener: ChannelListener = { channel, receive, isClosed: false };
    this.#lists.set(channel, [...(this.#lists.get(channel) ?? []), listener]);
    return listener;
  }

  /** Returns whether the channel has no listeners left. */
  remove(listener: ChannelListener): boolean {
    listener.isClosed = true;
    const rest = (this.#lists.get(listener.channel) ?? []).filter((other) => other !== listener);
    if (rest.length > 0) this.#lists.set(listener.channel, rest);
    else this.#lists.delete(listener.channel);
    return rest.length === 0;
  }

  has(channel: string): boolean {
    return this.#lists.has(channel);
  }

  channels(): string[] {
    return [...this.#lists.keys()];
  }

  /** Passes the payload to each listener in subscription order. Logs listeners that throw, and continues. */
  deliver(channel: string, payload: string): void {
    for (const listener of this.#lists.get(channel) ?? []) {
      if (listener.isClosed) continue;
      try {
        listener.receive(payload);
      } catch (error) {
        this.#log.error({ err: error, channel }, 'a bus listener failed');
      }
    }
  }

  clear(): void {
    for (const listeners of this.#lists.values()) for (const listener of listeners) listener.isClosed = true;
    this.#lists.clear();
  }
}
