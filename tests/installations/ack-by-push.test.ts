import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startExpoSimulator } from '@tocsin/simulators/expo-simulator.ts';
import { Client, createAccount, createTopic, made, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const expo = await startExpoSimulator();
const { stack, store } = await useOwnStack({ RATE_LIMITS: 'off', EXPO_URL: expo.url });
afterAll(() => expo.close());

/** An account with a phone, and the phone's push token. */
async function personWithPhone(): Promise<{ account: Account; token: string; deviceId: string }> {
  const account = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  const token = `ExponentPushToken[${randomUUID()}]`;
  const json = { push_token: token, platform: 'expo', device_id: 'phone' };
  const { id } = await made(account.client.call('POST', '/api/devices/register', { json }));
  return { account, token, deviceId: id as string };
}
const pushesTo = (token: string) => expo.pushes.filter((push) => push.token === token).map(({ message }) => message);
const linkOf = (token: string): string => new URL((pushesTo(token)[0]!.data as { ack_url: string }).ack_url).pathname;

/** A private topic with a subscriber and a step that pages its owner after a second. */
async function escalate() {
  const [owner, subscriber] = [await personWithPhone(), await personWithPhone()];
  const topic = await createTopic(owner.account);
  const json = { topic_name: topic.name };
  await made(subscriber.account.client.call('POST', '/api/subscriptions', { json }));
  await made(
    owner.account.client.call('PUT', `/api/topics/${topic.id}/escalation`, {
      json: {
        min_priority: 5,
        repeat_every: '1h',
        repeat_max: 1,
        steps: [{ after: '1s', to: { users: [owner.account.user.id] } }],
      },
    }),
  );
  const message = await made(
    owner.account.client.call('POST', `/${topic.name}`, { text: 'pump stopped', headers: { 'X-Priority': '5' } }),
  );
  for (const { token } of [subscriber, owner]) await eventually(() => expect(pushesTo(token)).toHaveLength(1));
  return { owner, subscriber, topic, message };
}

test('the link of a push acknowledges its message, for its device and without a login', async () => {
  const { owner, subscriber, message } = await escalate();
  const anyone = new Client(undefined, stack.urls);
  const link = linkOf(subscriber.token);
  expect((await anyone.call('POST', link.replace(subscriber.deviceId, owner.deviceId))).status).toBe(404);
  const { username: name } = subscriber.account.user;
  const answer = await anyone.call('POST', link);
  expect(answer).toMatchObject({
    status: 200,
    body: { message_id: message.id, acknowledged_by: { kind: 'account', name }, note: null },
  });
  expect((await anyone.call('POST', linkOf(owner.token))).body).toEqual(answer.body);
  await eventually(() => expect(pushesTo(owner.token)).toHaveLength(2));
  expect(pushesTo(owner.token)[1]).toMatchObject({
    collapseId: message.id,
    data: { event: 'message_acknowledged' },
    sound: null,
  });
  expect(pushesTo(owner.token)[1]!.body).toContain(`Acknowledged by ${name}`);
  expect(pushesTo(subscriber.token)).toHaveLength(1);
});

test('the link ends with its device', async () => {
  const { subscriber } = await escalate();
  const link = linkOf(subscriber.token);
  await made(subscriber.account.client.call('DELETE', `/api/devices/${subscriber.deviceId}`));
  expect((await new Client(undefined, stack.urls).call('POST', link)).status).toBe(404);
});

test('deliveries show each step with the rows of the caller', async () => {
  const { owner, subscriber, message } = await escalate();
  const path = `/api/messages/${message.id}/deliveries`;
  await eventually(async () =>
    expect((await made(owner.account.client.call('GET', path))).pages).toMatchObject([
      { kind: 'step', number: 1, skipped: null, counts: { sent: 1 }, deliveries: [{ device_id: owner.deviceId }] },
    ]),
  );
  expect((await made(subscriber.account.client.call('GET', path))).pages).toMatchObject([
    { kind: 'step', deliveries: [], counts: null },
  ]);
});
