import { createPrivateKey } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import type { Clock } from '@tocsin/shared/platform/clock.ts';

/** The `.p8` key that Apple issued, and what it is called by. */
export interface ApnsKey {
  /** PKCS #8 in PEM form. */
  readonly key: string;
  readonly keyId: string;
  readonly teamId: string;
}

/**
 * https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns: a token is
 * refused once it is an hour old, and so are ones that change more often than every 20 minutes.
 */
const spanMs = 50 * 60_000;

/**
 * The token that says to APNs who sends, at this moment. It is the same in every process and after every restart, since
 * it is issued at the beginning of its 50 minutes and signed without chance (RFC 6979): Apple sees one token at a time,
 * and no process has to tell another.
 */
export function apnsProviderToken({ key, keyId, teamId }: ApnsKey, clock: Clock): () => string {
  const { crv, d } = createPrivateKey(key).export({ format: 'jwk' });
  if (crv !== 'P-256' || d === undefined)
    throw new Error('the APNs key is not an elliptic-curve key of the kind P-256');
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
