import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import type { WebPush } from '@tocsin/simulators/web-push-simulator.ts';
import { createAccount, createTopic, type Account } from '../support/stack.ts';
import { useWebPushStack } from '../support/use-web-push-stack.ts';

const { service, stack, store } = await useWebPushStack();

const person = (): Promise<Account> => createAccount(store, { tier: 'TEAM', urls: stack.urls });

async function registerBrowser({ client }: Account): Promise<{ id: string; token: string }> {
  const token = service.newSubscription();
  const { status, body } = await client.call('POST', '/api/devices/register', {
    json: { push_token: token, platform: 'web', device_id: randomUUID(), device_name: 'Firefox' },
  });
  expect(status).toBe(201);
  return { id: body.id, token };
}

async function subscribe({ client }: Account, topic_name: string, settings: object = {}): Promise<string> {
  const { status, body } = await client.call('POST', '/api/subscriptions', { json: { topic_name, ...settings } });
  expect(status).toBe(201);
  return body.id;
}

async function publish({ client }: Account, topicName: string, text: string, headers = {}): Promise<string> {
  const { status, body } = await client.call('POST', `/${topicName}`, { text, headers });
  expect(status).toBe(200);
  return body.id;
}

const pushesTo = (token: string): WebPush[] => service.pushes.filter((push) => push.token === token);
const statusOf = async ({ client }: Account, messageId: string, deviceId: string) => {
  const { body } = await client.call('GET', `/api/messages/${messageId}/deliveries`);
  return (body.deliveries as { device_id: string; status: string; reason: string | null }[]).find(
    ({ device_id }) => device_id === deviceId,
  );
};

test('a published message reaches the browsers of its subscribers, encrypted for each', async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  const [first, second] = [await registerBrowser(reader), await registerBrowser(reader)];
  await subscribe(reader, topic.name);
  const id = await publish(owner, topic.name, 'the pump stopped', {
    'X-Title': 'Pump',
    'X-Priority': '5',
    'X-Tags': 'pump,cellar',
  });
  for (const { token } of [first, second])
    await eventually(() =>
      expect(pushesTo(token).map(({ payload }) => payload)).toMatchObject([
        {
          title: 'Pump',
          body: 'the pump stopped',
          data: { message_id: id, topic: topic.name, topic_id: topic.id, priority: 5, tags: ['pump', 'cellar'] },
          tag: id,
          silent: false,
          vibrates: true,
        },
      ]),
    );
  expect(pushesTo(first.token)[0]!.headers).toMatchObject({ urgency: 'high' });
  await eventually(async () => expect(await statusOf(reader, id, first.id)).toMatchObject({ status: 'sent' }));
});

test.each([
  ['web_notifications_enabled off', { web_notifications_enabled: false }, 'web notifications are off for the topic'],
  [
    'a threshold above the priority',
    { mobile_notifications_enabled: false, mobile_notification_settings: { priority_threshold: 5 } },
    'priority 3 is below the threshold of 5',
  ],
])('a browser gets no message with %s', async (_, settings, reason) => {
  const [reader, witness] = [await person(), await person()];
  const topic = await createTopic(reader);
  const { id, token } = await registerBrowser(reader);
  const { token: witnessed } = await registerBrowser(witness);
  await subscribe(witness, topic.name);
  const subscriptionId = await subscribe(reader, topic.name, settings);
  const blocked = await publish(reader, topic.name, 'the pump stopped');
  // The notifier reads all subscriptions of the topic together, so it has decided about both.
  await eventually(() => expect(pushesTo(witnessed)).toHaveLength(1));
  expect(await statusOf(reader, blocked, id)).toMatchObject({ status: 'skipped', reason });
  const changed = { web_notifications_enabled: true, mobile_notification_settings: { priority_threshold: 1 } };
  await reader.client.call('PATCH', `/api/subscriptions/${subscriptionId}`, { json: changed });
  const passing = await publish(reader, topic.name, 'the pump runs');
  await eventually(() => expect(pushesTo(token).map(({ messageId }) => messageId)).toEqual([passing]));
});

test('a browser gets messages although mobile notifications are off', async () => {
  const reader = await person();
  const topic = await createTopic(reader);
  const { token } = await registerBrowser(reader);
  await subscribe(reader, topic.name, { mobile_notifications_enabled: false });
  const id = await publish(reader, topic.name, 'the pump stopped');
  await eventually(() => expect(pushesTo(token).map(({ messageId }) => messageId)).toEqual([id]));
});

test('quiet hours hold back the push to a browser, as to other devices', async () => {
  const reader = await person();
  const topic = await createTopic(reader);
  const { id, token } = await registerBrowser(reader);
  const quiet_hours = { start: '00:00', end: '23:59', timezone: 'UTC' };
  const night = { start: '12:00', end: '11:59', timezone: 'UTC' };
  const isMinuteBeforeMidnight = new Date().toISOString().startsWith('23:5', 11);
  await subscribe(reader, topic.name, {
    mobile_notification_settings: { quiet_hours: isMinuteBeforeMidnight ? night : quiet_hours },
  });
  const held = await publish(reader, topic.name, 'the pump stopped');
  await eventually(async () =>
    expect(await statusOf(reader, held, id)).toMatchObject({
      status: 'skipped',
      reason: expect.stringContaining('quiet hours from'),
    }),
  );
  expect(pushesTo(token)).toEqual([]);
});

test('a browser that unsubscribed becomes inactive, and others do not', async () => {
  const reader = await person();
  const topic = await createTopic(reader);
  const [gone, other] = [await registerBrowser(reader), await registerBrowser(reader)];
  await subscribe(reader, topic.name);
  service.script(gone.token, { kind: 'error', status: 410 });
  const id = await publish(reader, topic.name, 'the pump stopped');
  await eventually(async () =>
    expect(await statusOf(reader, id, gone.id)).toMatchObject({
      status: 'dead_token',
      reason: 'the browser unsubscribed (410)',
    }),
  );
  await eventually(async () =>
    expect((await reader.client.call('GET', `/api/devices/${gone.id}`)).body).toMatchObject({ is_active: false }),
  );
  await eventually(() => expect(pushesTo(other.token)).toHaveLength(1));
  await publish(reader, topic.name, 'the pump runs');
  await eventually(() => expect(pushesTo(other.token)).toHaveLength(2));
  expect(service.requests.filter(({ token }) => token === gone.token)).toHaveLength(1);
});

test('a test push reaches the browser', async () => {
  const reader = await person();
  const { id, token } = await registerBrowser(reader);
  expect((await reader.client.call('POST', `/api/devices/${id}/test`)).status).toBe(200);
  await eventually(() => expect(pushesTo(token)).toMatchObject([{ payload: { data: { test: true } } }]));
});

test('the console gets the public key, and never the private one', async () => {
  const html = await (await fetch(`${stack.urls[0]}/console`)).text();
  expect(html).toContain(`<meta name="tocsin-vapid-key" content="${service.vapid.publicKey}"`);
  expect(html).not.toContain(service.vapid.privateKey);
});
