import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A secret of 32 random bytes in base64url behind a prefix that tells its kind. */
export function makeSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** What is stored of a secret: its SHA-256 in hex. A fast hash is right for 256 random bits. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Proof that whoever holds the key wrote the text for the purpose: 128 bits of its HMAC-SHA-256, in base64url. */
export function signText(key: string, purpose: string, text: string): string {
  return createHmac('sha256', key).update(`${purpose}\n${text}`).digest().subarray(0, 16).toString('base64url');
}

/** Whether the proof is one by any of the keys. */
export function isSignedText(
  keys: readonly string[],
  purpose: string,
  signed: { text: string; proof: string },
): boolean {
  const given = Buffer.from(signed.proof);
  return keys.some((key) => {
    const expected = Buffer.from(signText(key, purpose, signed.text));
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}
