import type { App } from 'firebase-admin/app';
import type { Clock } from '@tocsin/shared/platform/clock.ts';

/** Access tokens for FCM, issued by Google for the service account. */
export interface FcmAccessTokens {
  /** Returns the cached token; rejects with the library's error if Google issues none. */
  get(): Promise<string>;
  /** Invalidates a token that FCM rejected; the next `get` requests another one. */
  refuse(token: string): void;
}

/** The minimum time between renewals, so that not every push requests a token while FCM rejects them. */
const renewalMsMin = 10_000;

/** Internals of the library: it caches a token until it nearly expires, even if FCM rejects it. */
interface KeptToken {
  getToken(isForced?: boolean): Promise<{ accessToken: string }>;
  getCachedToken(): { accessToken: string } | null;
}

/** Caches the credential's token until it expires or is rejected. Concurrent pushes share one renewal. */
export function fcmAccessTokens(app: App, clock: Clock): FcmAccessTokens {
  const kept = (app as unknown as { INTERNAL: KeptToken }).INTERNAL;
  let isRefused = false;
  let renewableAt = -Infinity;
  return {
    async get() {
      if (isRefused && clock() >= renewableAt) {
        isRefused = false;
        renewableAt = clock() + renewalMsMin;
        // Otherwise the library would return this rejection for the lifetime of the rejected token.
        kept.getToken(true).catch(() => {
          isRefused = true;
        });
      }
      return (await kept.getToken()).accessToken;
    },
    refuse(token) {
      if (kept.getCachedToken()?.accessToken === token) isRefused = true;
    },
  };
}
