import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { createAccount, createTopic } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

/** A foreign server, to which no user input may make Tocsin connect. */
const visits: string[] = [];
const trap = createServer((request, response) =>
  response.end(visits.push(`${request.method} ${request.url}`).toString()),
);
trap.on('connection', () => visits.push('a connection'));
await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
const trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/trap`;
/** A URL of an icon, which must be secure, with the same host. */
const secureTrapUrl = trapUrl.replace('http:', 'https:');
const expo = await startExpoSimulator();
const { stack, store } = await useOwnStack({ EXPO_URL: expo.url, RATE_LIMITS: 'off' });
afterAll(async () => {
  await expo.close();
  await new Promise((resolve) => trap.close(resolve));
});

test('never connects to a URL in a push token, device, topic, message or header', async () => {
  const owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  const { client } = owner;
  const topic = await createTopic(owner, { description: trapUrl, is_discoverable: true });
  const { host } = new URL(trapUrl);
  const tokens = [
    trapUrl,
    `ExponentPushToken[${trapUrl}]`,
    `//${host}/`,
    `http://x@${host}`,
    `ExponentPushToken[x]@${host}`,
    `${trapUrl}\r\nHost: ${host}`,
  ];
  for (const [at, push_token] of tokens.entries()) {
    const device = await client.call('POST', '/api/devices/register', {
      json: {
        push_token,
        platform: at % 2 === 0 ? 'expo' : 'ios',
        device_id: `${trapUrl}/${at}`,
        device_name: trapUrl,
        app_version: '1',
      },
    });
    expect(device.status).toBe(201);
    await client.call('POST', `/api/devices/${device.body.id}/test`);
  }
  const good = await client.call('POST', '/api/devices/register', {
    json: { push_token: 'ExponentPushToken[good]', platform: 'expo', device_id: 'good' },
  });
  expect(good.status).toBe(201);
  const subscribed = await client.call('POST', '/api/subscriptions', {
    json: {
      topic_name: topic.name,
      mobile_notification_settings: { notification_sound: 'default', webhook: trapUrl, callback_url: trapUrl },
    },
  });
  expect(subscribed.status).toBe(201);
  const headers = Object.fromEntries(
    ['X-Attach', 'X-Click', 'X-Callback', 'X-Forward', 'Link', 'X-Original-URL', 'Referer', 'Origin'].map((name) => [
      name,
      trapUrl,
    ]),
  );
  const text = `![picture](${trapUrl}/a.png) <img src="${trapUrl}/b.png"> ${trapUrl}`;
  expect(
    (
      await client.call('POST', `/${topic.name}?icon=${secureTrapUrl}&attach=${trapUrl}`, {
        text,
        headers: {
          ...headers,
          'X-Actions': `http, Open, ${trapUrl}`,
          'X-Title': trapUrl,
          'X-Tags': trapUrl,
          'X-Markdown': 'true',
        },
      })
    ).status,
  ).toBe(200);
  await client.call('POST', '/', {
    json: { topic: topic.name, message: text, icon: secureTrapUrl, attach: trapUrl, click: trapUrl, markdown: true },
  });
  for (const path of ['/auth/google/login', `/auth/google/callback?code=a&state=b&iss=${trapUrl}`])
    await client.call('GET', path);

  // The valid device gets both pushes, so the others were processed by then.
  await eventually(() =>
    expect(expo.pushes.filter(({ token }) => token === 'ExponentPushToken[good]')).toHaveLength(2),
  );
  await eventually(async () => {
    const { body } = await client.call('GET', '/api/devices/my');
    expect(
      (body as { platform: string; is_active: boolean; push_token: string }[]).find(
        ({ push_token }) => push_token === trapUrl,
      ),
    ).toMatchObject({ is_active: false });
  });
  expect(visits).toEqual([]);
});
