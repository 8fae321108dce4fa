import { createECDH } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { privateKeyOf } from './web-push-simulator.ts';

test('a private key that begins with a zero keeps its 32 bytes', () => {
  const ecdh = createECDH('prime256v1');
  const key = Buffer.alloc(32, 7).fill(0, 0, 1);
  ecdh.setPrivateKey(key);
  expect(privateKeyOf(ecdh)).toBe(key.toString('base64url'));
});
