import { createECDH, randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const subscription = (over: object = {}) => ({ ...(JSON.parse(newPushToken.web()) as object), ...over });
const register = (person: Person, pushToken: string, over: object = {}) =>
  person.post('/api/devices/register', {
    push_token: pushToken,
    platform: 'web',
    device_id: `browser-${randomUUID()}`,
    ...over,
  });

test('a browser is a device of the platform web, with its subscription as the push token', async () => {
  const person = await stack.person();
  const given = subscription();
  const answer = await register(person, JSON.stringify({ expirationTime: null, ...given }), { device_name: 'Firefox' });
  expect(answer).toMatchObject({
    status: 201,
    body: { platform: 'web', device_name: 'Firefox', is_active: true, push_token: JSON.stringify(given) },
  });
  expect((await person.get('/api/devices/my')).body).toEqual([answer.body]);
});

test('the subscription of a browser belongs to one account', async () => {
  const [one, two] = [await stack.person(), await stack.person()];
  const given = subscription();
  await register(one, JSON.stringify(given));
  await register(two, JSON.stringify({ ...given, expirationTime: 1 }));
  expect((await one.get('/api/devices/my')).body).toEqual([]);
  expect((await two.get('/api/devices/my')).body).toMatchObject([{ platform: 'web' }]);
});

test.each([
  ['http', 'http://fcm.googleapis.com/fcm/send/a', 'endpoint must be an https URL'],
  ['a private address', 'https://10.0.0.7/push', 'must be on a known push service'],
  ['this machine', 'https://127.0.0.1:8080/console', 'must be on a known push service'],
  ['the metadata service', 'https://169.254.169.254/latest', 'must be on a known push service'],
  ['a foreign host', 'https://push.example.org/a', 'must be on a known push service'],
  ['a host with a similar name', 'https://fcm.googleapis.com.example.org/a', 'must be on a known push service'],
  ['another port', 'https://fcm.googleapis.com:8443/a', 'must be on a known push service'],
  ['credentials', 'https://a:b@fcm.googleapis.com/a', 'must not contain credentials'],
  ['too many characters', `https://fcm.googleapis.com/${'a'.repeat(2_048)}`, 'must have at most 2048 characters'],
])('refuses an endpoint with %s', async (_, endpoint, fault) => {
  const person = await stack.person();
  const answer = await register(person, JSON.stringify(subscription({ endpoint })));
  expect(answer).toMatchObject({ status: 422, body: { detail: expect.stringContaining(`push_token: endpoint`) } });
  expect(answer.body.detail).toContain(fault);
  expect((await person.get('/api/devices/my')).body).toEqual([]);
});

test('refuses a text other than a subscription, and keys that cannot encrypt', async () => {
  const person = await stack.person();
  const p256dh = createECDH('prime256v1').generateKeys('base64url');
  const auth = randomBytes(16).toString('base64url');
  for (const [pushToken, detail] of [
    ['ExponentPushToken[x]', 'push_token: must be the JSON of a browser subscription'],
    ['null', 'push_token: must be the JSON of a browser subscription'],
    [JSON.stringify(subscription({ keys: {} })), 'push_token: must be the JSON of a browser subscription'],
    [
      JSON.stringify(subscription({ keys: { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth } })),
      'push_token: keys.p256dh must be a point of P-256',
    ],
    [JSON.stringify(subscription({ keys: { p256dh, auth: 'AA' } })), 'push_token: keys.auth must have 16 bytes'],
  ] as const)
    expect(await register(person, pushToken)).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining(detail) },
    });
});

test('a changed push token of a browser follows the same rules', async () => {
  const person = await stack.person();
  const { body } = await register(person, JSON.stringify(subscription()));
  expect(await person.put(`/api/devices/${body.id}`, { push_token: 'https://example.org' })).toMatchObject({
    status: 422,
    body: { detail: expect.stringContaining('push_token: must be the JSON of a browser subscription') },
  });
  const renewed = JSON.stringify(subscription());
  expect(await person.put(`/api/devices/${body.id}`, { push_token: renewed })).toMatchObject({
    status: 200,
    body: { push_token: renewed },
  });
});
