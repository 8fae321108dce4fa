import { startAppleKeys } from '@tocsin/simulators/apple-keys.ts';
import { startOpenIdProvider } from '@tocsin/simulators/openid-provider.ts';
import type { Stack } from '../../tools/stack/start-stack.ts';
import { startOwnStack } from '../support/own-stack.ts';

export const adminToken = 'the-operator-of-the-fuzzer';

export interface RunningTarget {
  readonly stack: Stack;
  close(): Promise<void>;
}

/**
 * An installation with all features: an operator, both identity providers, and a push provider that is unreachable.
 * Rate limits are off, because a fuzzer would otherwise only get 429.
 */
export async function startTarget(): Promise<RunningTarget> {
  const [google, apple] = [await startOpenIdProvider(), await startAppleKeys()];
  const closePeers = () => Promise.all([google.close(), apple.close()]);
  const stack = await startOwnStack({
    RATE_LIMITS: 'off',
    ADMIN_TOKEN: adminToken,
    EXPO_URL: 'http://127.0.0.1:9',
    GOOGLE_ISSUER: google.issuer,
    GOOGLE_CLIENT_ID: google.clientId,
    GOOGLE_CLIENT_SECRET: google.clientSecret,
    APPLE_ISSUER: apple.issuer,
    APPLE_CLIENT_ID: apple.clientId,
    APPLE_JWKS_URL: apple.url,
  }).catch(async (error: unknown) => {
    await closePeers();
    throw error;
  });
  google.register(`${stack.urls[0]}/auth/google/callback`);
  return {
    stack,
    async close() {
      await stack.stop();
      await closePeers();
    },
  };
}
