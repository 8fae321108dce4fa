import { AppError } from '../../domain/errors.ts';

/** Publish/subscribe over all nodes, at most once. */
export interface PubSub {
  /**
   * Sends payloads to the channel's subscribers on all nodes, in this order. At most once.
   * Throws AppError `unavailable` immediately while the bus is down.
   */
  publish(channel: string, payloads: readonly string[]): Promise<void>;

  /** False if the channel certainly has no subscriber, so that a payload for it need not be built. */
  isHeard(channel: string): boolean;

  /**
   * Resolves once the subscription is confirmed. While the connection is up, later payloads arrive in order.
   * Resubscribes automatically after an outage. Throws Unconfirmed (`unavailable`) immediately while the bus is down,
   * or after two seconds without a confirmation. The subscription then becomes active after a reconnect, unless it is
   * closed through the error.
   */
  subscribe(channel: string, listener: (payload: string) => void): Promise<ChannelSubscription>;

  /** Calls the listener with false when the connection is lost and with true when all subscriptions are restored. */
  onConnected(listener: (connected: boolean) => void): () => void;
  readonly isConnected: boolean;
}

export interface ChannelSubscription {
  close(): Promise<void>;
}

/**
 * The subscription is registered but not yet active, because the bus is down or silent. It receives payloads after
 * recovery.
 */
export class Unconfirmed extends AppError {
  readonly subscription: ChannelSubscription;
  constructor(subscription: ChannelSubscription, cause?: unknown) {
    super('unavailable', 'Bus is unavailable', { cause, retryAfterSeconds: 1 });
    this.subscription = subscription;
  }
}
