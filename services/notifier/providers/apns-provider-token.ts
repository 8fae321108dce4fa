import { createPrivateKey } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import type { Clock } from '@tocsin/shared/platform/clock.ts';

/** The `.p8` key issued by Apple, and its identifiers. */
export interface ApnsKey {
  /** PKCS #8 in PEM. */
  readonly key: string;
  readonly keyId: string;
  readonly teamId: string;
}

/**
 * https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns: a token is
 * rejected after an hour, and so are tokens that change more often than every 20 minutes.
 */
const spanMs = 50 * 60_000;

/**
 * Returns the current provider token for APNs. It is the same in every process and after every restart, because
 * it is issued at the start of a 50-minute slot and signed deterministically (RFC 6979): APNs sees one token at a time
 * without coordination between processes.
 */
export function apnsProviderToken({ key, keyId, teamId }: ApnsKey, clock: Clock): () => string {
  const { crv, d } = createPrivateKey(key).export({ format: 'jwk' });
  if (crv !== 'P-256' || d === undefined) throw new Error('the APNs key is not a P-256 elliptic-curve key');
  const secret = Buffer.from(d, 'base64url');
  let made = { issuedAt: -1, token: '' };
  return () => {
    const issuedAt = Math.floor(clock() / spanMs) * (spanMs / 1_000);
    if (issuedAt !== made.issuedAt) {
      const content = `${encode({ alg: 'ES256', kid: keyId })}.${encode({ iss: teamId, iat: issuedAt })}`;
      const signature = p256.sign(Buffer.from(content), secret, { lowS: false });
      made = { issuedAt, token: `${content}.${Buffer.from(signature).toString('base64url')}` };
    }
    return made.token;
  };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
