import { createHash, randomBytes } from 'node:crypto';

/** A secret of 32 random bytes in base64url behind a prefix that tells its kind. */
export function makeSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** What is stored of a secret: its SHA-256 in hex. A fast hash is right for 256 random bits. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
