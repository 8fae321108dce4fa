import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Creates a secret of 32 random bytes in base64url after a prefix that shows its kind. */
export function makeSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** Creates a signing secret of 24 bytes as Standard Webhooks defines it: base64 after a prefix. */
export function makeWebhookSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

/** Returns the SHA-256 of a secret in hex, for storage. A fast hash suffices for 256 random bits. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

const hmac = (key: string, purpose: string, text: string): Buffer =>
  createHmac('sha256', key).update(`${purpose}\n${text}`).digest();

/** Derives a secret of 32 bytes in base64url from a secret text, the same for the same arguments. */
export function deriveSecret(key: string, purpose: string, text: string): string {
  return hmac(key, purpose, text).toString('base64url');
}

/** Signs a text for a purpose: 128 bits of HMAC-SHA-256 in base64url. */
export function signText(key: string, purpose: string, text: string): string {
  return hmac(key, purpose, text).subarray(0, 16).toString('base64url');
}

/** Whether any of the keys made this signature. */
export function isSignedText(
  keys: readonly string[],
  purpose: string,
  signed: { text: string; proof: string },
): boolean {
  const proofBytes = Buffer.from(signed.proof);
  return keys.some((key) => {
    const expected = Buffer.from(signText(key, purpose, signed.text));
    return expected.length === proofBytes.length && timingSafeEqual(expected, proofBytes);
  });
}
