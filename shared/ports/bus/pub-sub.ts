import { AppError } from '../../domain/errors.ts';

/** Publish/subscribe over all nodes, at most once. */
export interface PubSub {
  /**
   * Sends payloads to the channel's subscribers on all nodes, in this order. At most once.
   * Throws AppError `unavailable` immediately while the bus is down.
   */
  publish(channel: string, payloads: readonly string[]): Promise<void>;

  /**
   * Resolves once the subscription is confirmed: later payloads arrive in order while the connection holds. After an
   * outage, it resubscribes automatically. Throws Unconfirmed (`unavailable`) immediately while the bus is down, and if the
   * subscription is not confirmed within two seconds; it is then confirmed after a reconnect, unless closed through the error.
   */
  subscribe(channel: string, listener: (payload: string) => void): Promise<Subscribed>;

  /** Calls the listener with false when the connection is lost and with true when all subscriptions are restored. */
  onConnected(listener: (connected: boolean) => void): () => void;
  readonly isConnected: boolean;
}

export interface Subscribed {
  close(): Promise<void>;
}

/** The bus is down: the subscription stays registered and receives payloads after recovery. */
export class Unconfirmed extends AppError {
  readonly subscribed: Subscribed;
  constructor(subscribed: Subscribed, cause?: unknown) {
    super('unavailable', 'Bus is unavailable', { cause, retryAfterSeconds: 1 });
    this.subscribed = subscribed;
  }
}
