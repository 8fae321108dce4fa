import type { Logger } from '../../../platform/logger.ts';
import { Unconfirmed, type ChannelSubscription } from '../../../ports/bus/pub-sub.ts';
import { ChannelListeners, type ChannelListener } from '../../channel-listeners.ts';
import type { RedisConnection } from './redis-connection.ts';

/** Time limit for the confirmation of a subscription. */
const confirmTimeoutMs = 2_000;

/** Channels per command when resubscribing. */
const channelsPerCommandMax = 1_000;

/**
 * The confirmation of a channel's subscription. A new request replaces it, so that a late response to the old request
 * has no effect.
 */
interface Confirmation {
  isConfirmed: boolean;
  readonly confirmed: PromiseWithResolvers<void>;
}

function newConfirmation(): Confirmation {
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
  readonly #confirmations = new Map<string, Confirmation>();
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
    connection.onChange((isUp) => (isUp ? void this.#resubscribeAll() : this.#onDisconnected()));
  }

  async subscribe(channel: string, receive: (payload: string) => void): Promise<ChannelSubscription> {
    const listener = this.#listeners.add(channel, receive);
    const subscription = { close: () => this.#leave(listener) };
    const confirmation = this.#confirmations.get(channel) ?? this.#request(channel);
    if (confirmation.isConfirmed) return subscription;
    if (!this.#connection.isUp) throw new Unconfirmed(subscription);
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => timeout.reject(new Error('not confirmed in time')), confirmTimeoutMs);
    try {
      await Promise.race([confirmation.confirmed.promise, timeout.promise]);
      return subscription;
    } catch (error) {
      throw new Unconfirmed(subscription, error);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#listeners.clear();
    this.#confirmations.clear();
  }

  #request(channel: string): Confirmation {
    const confirmation = newConfirmation();
    this.#confirmations.set(channel, confirmation);
    if (this.#connection.isUp) void this.#send([channel]);
    return confirmation;
  }

  /**
   * Subscribes to the channels; resolves with whether they were confirmed. Unconfirmed channels are requested again
   * after a reconnect.
   */
  async #send(channels: readonly string[]): Promise<boolean> {
    const confirmation = channels.map((channel) => this.#confirmations.get(channel));
    try {
      await this.#connection.run((redis) => redis.subscribe(...channels.map((channel) => this.#prefix + channel)));
    } catch (error) {
      this.#log.warn({ err: error, channels: channels.length }, 'Redis channels could not be subscribed');
      this.#connection.reset();
      return false;
    }
    for (const each of confirmation) {
      if (each === undefined) continue;
      each.isConfirmed = true;
      each.confirmed.resolve();
    }
    return true;
  }

  async #resubscribeAll(): Promise<void> {
    const channels = [...this.#confirmations.keys()];
    for (let start = 0; start < channels.length; start += channelsPerCommandMax) {
      const part = channels
        .slice(start, start + channelsPerCommandMax)
        .filter((channel) => this.#confirmations.has(channel));
      if (part.length > 0 && !(await this.#send(part))) return;
    }
    if (this.#connection.isUp) this.#onReady(true);
  }

  #onDisconnected(): void {
    for (const [channel, { confirmed }] of this.#confirmations) {
      confirmed.reject(new Error('the connection was lost'));
      this.#confirmations.set(channel, newConfirmation());
    }
    this.#onReady(false);
  }

  async #leave(listener: ChannelListener): Promise<void> {
    if (listener.isClosed) return;
    const isLast = this.#listeners.remove(listener);
    if (!isLast) return;
    this.#confirmations.delete(listener.channel);
    // If Redis is down, there is nothing to unsubscribe.
    await this.#connection.run((redis) => redis.unsubscribe(this.#prefix + listener.channel)).catch(() => undefined);
  }
}
