import { Unconfirmed, type ChannelSubscription, type PubSub } from '../ports/bus/pub-sub.ts';

/**
 * Subscribes, or retries in the background while publish/subscribe is unavailable: callers use the stores until
 * then. Throws only unexpected errors.
 */
export async function subscribeLater(
  bus: Pick<PubSub, 'subscribe'>,
  channel: string,
  listener: (payload: string) => void,
): Promise<ChannelSubscription> {
  try {
    return await bus.subscribe(channel, listener);
  } catch (error) {
    if (error instanceof Unconfirmed) return error.subscription;
    throw error;
  }
}
