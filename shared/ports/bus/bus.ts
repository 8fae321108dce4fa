import type { Presence } from './presence.ts';
import type { PubSub } from './pub-sub.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * Fast, volatile shared state of the nodes: live envelopes, rate limits and connection counts. Nothing durable is stored
 * here; after a lost connection, readers backfill from the stores. Consumers depend on the part that they use.
 */
export interface Bus extends PubSub, RateLimiter, Presence {
  /** Resolves if the bus responds; throws AppError `unavailable` otherwise. */
  ping(): Promise<void>;

  close(): Promise<void>;
}
