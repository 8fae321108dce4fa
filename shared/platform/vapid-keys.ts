import { createECDH } from 'node:crypto';

/** Returns a new private key for VAPID (RFC 8292): 32 bytes in base64url. */
export function newVapidPrivateKey(): string {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  return inBase64url(ecdh.getPrivateKey());
}

/** Returns the public key, an uncompressed point in base64url. Throws if the text is not a private key of P-256. */
export function vapidPublicKeyOf(privateKey: string): string {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(Buffer.from(privateKey, 'base64url'));
  if (inBase64url(ecdh.getPrivateKey()) !== privateKey) throw new Error('not a key of 32 bytes in base64url');
  return ecdh.getPublicKey('base64url');
}

/** Node omits leading zeros. */
function inBase64url(key: Buffer): string {
  return Buffer.concat([Buffer.alloc(32 - key.length), key]).toString('base64url');
}
