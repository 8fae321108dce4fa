import type { Logger } from '../../../platform/logger.ts';
import { Unconfirmed, type Subscribed } from '../../../ports/bus/pub-sub.ts';
import { ChannelListeners, type ChannelListener } from '../../channel-listeners.ts';
import type { RedisConnection } from './redis-connection.ts';

/** Time limit for the confirmation of a subscription. */
const confirmTimeoutMs = 2_000;

/** Channels per command when resubscribing. */
const channelsPerCommandMax = 1_000;

/** A pending subscription of this process. Replaced by a new request, so that a late response to the old one has no effect. */
interface Asked {
  isConfirmed: boolean;
  readonly confirmed: PromiseWithResolvers<void>;
}

function newAsked(): Asked {
  const confirmed = Promise.withResolvers<void>();
  confirmed.promise.catch(() => undefined); // there may be no caller
  return { isConfirmed: false, confirmed };
}

/** The subscriptions of this process over one connection: one per channel, for any number of listeners. */
export class RedisSubscriptions {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #listeners: ChannelListeners;
  readonly #asked = new Map<string, Asked>();
  readonly #onReady: (isReady: boolean) => void;

  /** `onReady` is called when all subscriptions are active, and when they are lost. */
  constructor(
    connection: RedisConnection,
    options: { prefix: string; log: Logger; onReady: (isReady: boolean) => void },
  ) {
    this.#connection = connection;
    this.#prefix = options.prefix;
    this.#log = options.log;
    this.#onReady = options.onReady;
    this.#listeners = new ChannelListeners(options.log);
    connection.redis.on('message', (channel, payload) =>
      this.#listeners.deliver(channel.slice(this.#prefix.length), payload),
    );
    connection.onChange((isUp) => (isUp ? void this.#takeUpAll() : this.#loseAll()));
  }

  async subscribe(channel: string, receive: (payload: string) => void): Promise<Subscribed> {
    const listener = this.#listeners.add(channel, receive);
    const subscribed = { close: () => this.#leave(listener) };
    const asked = this.#asked.get(channel) ?? this.#ask(channel);
    if (asked.isConfirmed) return subscribed;
    if (!this.#connection.isUp) throw new Unconfirmed(subscribed);
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => timeout.reject(new Error('not confirmed in time')), confirmTimeoutMs);
    try {
      await Promise.race([asked.confirmed.promise, timeout.promise]);
      return subscribed;
    } catch (error) {
      throw new Unconfirmed(subscribed, error);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#listeners.clear();
    this.#asked.clear();
  }

  #ask(channel: string): Asked {
    const asked = newAsked();
    this.#asked.set(channel, asked);
    if (this.#connection.isUp) void this.#send([channel]);
    return asked;
  }

  /** Returns whether they were confirmed. Unconfirmed ones are repeated after a reconnect. */
  async #send(channels: readonly string[]): Promise<boolean> {
    const asked = channels.map((channel) => this.#asked.get(channel));
    try {
      await this.#connection.run((redis) => redis.subscribe(...channels.map((channel) => this.#prefix + channel)));
    } catch (error) {
      this.#log.warn({ err: error, channels: channels.length }, 'Redis channels could not be subscribed');
      this.#connection.reset();
      return false;
    }
    for (const one of asked) {
      if (one === undefined) continue;
      one.isConfirmed = true;
      one.confirmed.resolve();
    }
    return true;
  }

  async #takeUpAll(): Promise<void> {
    const channels = [...this.#asked.keys()];
    for (let start = 0; start < channels.length; start += channelsPerCommandMax) {
      const part = channels.slice(start, start + channelsPerCommandMax).filter((channel) => this.#asked.has(channel));
      if (part.length > 0 && !(await this.#send(part))) return;
    }
    if (this.#connection.isUp) this.#onReady(true);
  }

  #loseAll(): void {
    for (const [channel, { confirmed }] of this.#asked) {
      confirmed.reject(new Error('the connection was lost'));
      this.#asked.set(channel, newAsked());
    }
    this.#onReady(false);
  }

  async #leave(listener: ChannelListener): Promise<void> {
    if (listener.isClosed) return;
    const isLast = this.#listeners.remove(listener);
    if (!isLast) return;
    this.#asked.delete(listener.channel);
    await this.#connection.run((redis) => redis.unsubscribe(this.#prefix + listener.channel)).catch(() => undefined); // down: nothing to unsubscribe
  }
}
