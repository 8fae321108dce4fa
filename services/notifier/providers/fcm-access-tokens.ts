import type { App } from 'firebase-admin/app';
import type { Clock } from '@tocsin/shared/platform/clock.ts';

/** The tokens that open FCM, as Google gives them for the service account. */
export interface FcmAccessTokens {
  /** The one that is kept; rejects with the library's error where Google gives none. */
  get(): Promise<string>;
  /** FCM does not know it any more: the next `get` asks for another. */
  refuse(token: string): void;
}

/** How soon a token that was renewed is renewed again. Harm prevented: a request for a token with each push while none is taken. */
const renewalMsMin = 10_000;

/** What is reached into: the library keeps a token until it nearly expires, whatever FCM says of it. */
interface KeptToken {
  getToken(isForced?: boolean): Promise<{ accessToken: string }>;
  getCachedToken(): { accessToken: string } | null;
}

/** Keeps what the app's credential gives until it expires or is refused. Pushes at once share one renewal. */
export function fcmAccessTokens(app: App, clock: Clock): FcmAccessTokens {
  const kept = (app as unknown as { INTERNAL: KeptToken }).INTERNAL;
  let isRefused = false;
  let renewableAt = -Infinity;
  return {
    async get() {
      if (isRefused && clock() >= renewableAt) {
        isRefused = false;
        renewableAt = clock() + renewalMsMin;
        // The library would hand out the rejection of this one for as long as the refused token was to last.
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
