import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { LimitReached } from '@tocsin/shared/domain/errors.ts';

const windowMs = 60_000;

/** Counts a request of a caller with a valid credential. Throws LimitReached beyond the maximum of this minute. */
export type RequestCeiling = (caller: Exclude<Caller, { kind: 'anonymous' }>, now: number) => void;

/**
 * Limits the requests per minute of each API key and topic token, and of all logins of an account, on this node.
 * Protects the node's processor from one client; counting in the node costs no request to Redis. Infinity disables the
 * limit.
 */
export function requestCeiling(max: number): RequestCeiling {
  let counts = new Map<string, number>();
  let endsAt = -Infinity;
  return (caller, now) => {
    if (max === Infinity) return;
    if (now >= endsAt) {
      counts = new Map();
      endsAt = now + windowMs;
    }
    const isLogin = caller.kind === 'account' && caller.scopes === null;
    const key = isLogin ? caller.userId : caller.credentialId;
    const count = (counts.get(key) ?? 0) + 1;
    if (count > max) throw new LimitReached('Rate limit exceeded', { limit: max, resetAt: endsAt }, now);
    counts.set(key, count);
  };
}
