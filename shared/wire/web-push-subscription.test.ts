import { createECDH, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { webPushHosts } from '../domain/push/web-push-hosts.ts';
import { readWebPushSubscription } from './web-push-subscription.ts';

const p256dh = createECDH('prime256v1').generateKeys('base64url');
const auth = randomBytes(16).toString('base64url');
const read = (endpoint: string, keys: object = {}, hosts: readonly string[] = webPushHosts()) =>
  readWebPushSubscription(JSON.stringify({ endpoint, keys: { p256dh, auth, ...keys } }), hosts);
const faultOf = (...given: Parameters<typeof read>) => {
  const answer = read(...given);
  return 'fault' in answer ? answer.fault : null;
};

describe('the subscription of a browser', () => {
  test.each([
    'https://fcm.googleapis.com/fcm/send/abc:def',
    'https://updates.push.services.mozilla.com/wpush/v2/gAAA',
    'https://updates-autopush.stage.push.services.mozilla.com/wpush/v2/gAAA',
    'https://web.push.apple.com/QFOyN',
    'https://wns2-par02p.notify.windows.com/w/?token=BQYA',
  ])('may be at %s', (endpoint) => {
    expect(read(endpoint)).toEqual({ subscription: { endpoint, keys: { p256dh, auth } } });
  });

  test.each([
    ['http://fcm.googleapis.com/fcm/send/a', 'endpoint must be an https URL'],
    ['fcm.googleapis.com', 'endpoint must be an https URL'],
    ['https://me:pw@fcm.googleapis.com/a', 'endpoint must not contain credentials'],
    ['https://fcm.googleapis.com/a#b', 'endpoint must not contain a fragment'],
    [`https://fcm.googleapis.com/${'a'.repeat(2_048)}`, 'endpoint must have at most 2048 characters'],
    ...[
      '127.0.0.1',
      '[::1]',
      '10.0.0.1',
      '169.254.169.254',
      'localhost',
      'push.example.org',
      'fcm.googleapis.com.example.org',
      'fcm.googleapis.com.',
      'fcm.googleapis.com:8443',
      'notify.windows.com',
      'evilnotify.windows.com',
      'xpush.apple.com',
    ].map((host) => [`https://${host}/a`, `endpoint must be on a known push service, not on ${host}`]),
  ] as [string, string][])('must not be at %s', (endpoint, fault) => {
    expect(faultOf(endpoint)).toBe(fault);
  });

  test('accepts the hosts of the configuration, with a port only if it is stated', () => {
    const hosts = ['push.example.org', '127.0.0.1:9793'];
    expect(faultOf('https://push.example.org/a', {}, hosts)).toBeNull();
    expect(faultOf('https://127.0.0.1:9793/a', {}, hosts)).toBeNull();
    expect(faultOf('https://127.0.0.1/a', {}, hosts)).toContain('known push service');
    expect(faultOf('https://push.example.org:444/a', {}, hosts)).toContain('known push service');
  });

  test('requires a point on P-256 and a secret of sixteen bytes', () => {
    const endpoint = 'https://fcm.googleapis.com/a';
    const offCurve = Buffer.from(p256dh, 'base64url');
    offCurve[64]! ^= 1;
    const compressed = Buffer.concat([Buffer.from([2]), offCurve.subarray(1, 33)]);
    for (const bytes of [offCurve, compressed, Buffer.alloc(65), Buffer.alloc(65, 4), Buffer.alloc(1), randomBytes(64)])
      expect(faultOf(endpoint, { p256dh: bytes.toString('base64url') })).toBe('keys.p256dh must be a point of P-256');
    for (const text of ['', '*', 'a b', `${p256dh}!`])
      expect(faultOf(endpoint, { p256dh: text })).toBe('keys.p256dh must be a point of P-256');
    for (const bytes of [15, 17])
      expect(faultOf(endpoint, { auth: randomBytes(bytes).toString('base64url') })).toBe(
        'keys.auth must have 16 bytes',
      );
  });

  test('ignores other members, so that the same subscription is always the same text', () => {
    const text = JSON.stringify({
      expirationTime: null,
      keys: { auth: `${auth}==`, p256dh: `${p256dh}=` },
      endpoint: 'HTTPS://FCM.googleapis.com/a',
    });
    expect(readWebPushSubscription(text, webPushHosts())).toEqual({
      subscription: { endpoint: 'https://fcm.googleapis.com/a', keys: { p256dh, auth } },
    });
  });

  test.each(['', '{', 'null', '[]', '"text"', '{"endpoint": "https://fcm.googleapis.com/a"}', '{"endpoint": 1}'])(
    'is not %s',
    (text) => {
      expect(readWebPushSubscription(text, webPushHosts())).toMatchObject({
        fault: expect.stringContaining('must be the JSON of a browser subscription'),
      });
    },
  );
});
