import { createDecipheriv, hkdfSync, type ECDH } from 'node:crypto';

/** The keys of a browser's subscription. */
export interface BrowserKeys {
  readonly ecdh: ECDH;
  readonly auth: Buffer;
}

/** https://www.rfc-editor.org/rfc/rfc8188#section-2.1 */
const [saltBytes, headerBytes, tagBytes] = [16, 21, 16];

/**
 * Decrypts the only record of a push (RFC 8188 and RFC 8291). Throws if the push is not encrypted for this browser.
 * Written from the RFCs, so that it checks the library that encrypts.
 */
export function decryptWebPush(body: Buffer, { ecdh, auth }: BrowserKeys): Buffer {
  const salt = body.subarray(0, saltBytes);
  const recordSize = body.readUInt32BE(saltBytes);
  const sender = body.subarray(headerBytes, headerBytes + body[headerBytes - 1]!);
  const record = body.subarray(headerBytes + sender.length);
  if (record.length > recordSize) throw new Error('more than one record');
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender]);
  const secret = Buffer.from(hkdfSync('sha256', ecdh.computeSecret(sender), auth, info, 32));
  const derive = (label: string, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${label}\0`, bytes));
  const decipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
  decipher.setAuthTag(record.subarray(-tagBytes));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -tagBytes)), decipher.final()]);
  const end = padded.findLastIndex((byte) => byte !== 0);
  if (padded[end] !== 2) throw new Error('not the last record');
  return padded.subarray(0, end);
}
