import type { Presence } from './presence.ts';
import type { PubSub } from './pub-sub.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * Fast, volatile state that the nodes share: live envelopes, rate limits and connection counts. Nothing here is
 * durable; after a lost connection, readers backfill from the stores. Depend on PubSub, RateLimiter or Presence if one
 * suffices.
 */
export interface Bus extends PubSub, RateLimiter, Presence {
  /** Resolves if the bus responds; throws AppError `unavailable` otherwise. */
  ping(): Promise<void>;

  close(): Promise<void>;
}
