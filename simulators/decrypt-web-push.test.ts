import { createECDH } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { decryptWebPush } from './decrypt-web-push.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

// https://www.rfc-editor.org/rfc/rfc8291#section-5
const auth = bytes('BTBZMqHH6r4Tts7J_aSIgg');
const ecdh = createECDH('prime256v1');
ecdh.setPrivateKey(bytes('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'));
const body = bytes(
  'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
);

test('decrypts the example of RFC 8291', () => {
  expect(decryptWebPush(body, { ecdh, auth }).toString()).toBe('When I grow up, I want to be a watermelon');
});

test('rejects a push for another browser', () => {
  expect(() => decryptWebPush(body, { ecdh, auth: Buffer.alloc(16) })).toThrow();
});
