import { Unconfirmed, type Bus, type Subscribed } from '@tocsin/shared/ports/bus.ts';

/**
 * Subscribes, or lets the subscription follow when the bus is away now: whoever listens has the stores to go by until
 * then. Throws nothing but bugs.
 */
export async function subscribeLater(
  bus: Pick<Bus, 'subscribe'>,
  channel: string,
  listener: (payload: string) => void,
): Promise<Subscribed> {
  try {
    return await bus.subscribe(channel, listener);
  } catch (error) {
    if (error instanceof Unconfirmed) return error.subscribed;
    throw error;
  }
}
