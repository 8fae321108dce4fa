import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import type { Platform } from '@tocsin/shared/domain/push/device.ts';
import { newPushToken } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startApnsSimulator } from '@tocsin/simulators/apns-simulator.ts';
import { startFcmSimulator } from '@tocsin/simulators/fcm-simulator.ts';
import {
  apnsSettings,
  expoSettings,
  fcmSettings,
  writeSimulatorSettings,
} from '@tocsin/simulators/simulator-settings.ts';
import { startExpoSimulator, type ExpoPush } from '@tocsin/simulators/expo-simulator.ts';
import { insertMember, insertTeam } from '../support/arrange-by-store.ts';
import { createAccount, createTopic, type Account } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const expo = await startExpoSimulator();
const apns = await startApnsSimulator();
const fcm = await startFcmSimulator();
const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-push-'));
const { stack, store } = await useOwnStack({
  RATE_LIMITS: 'off',
  ...writeSimulatorSettings(folder, [apnsSettings(apns), fcmSettings(fcm), expoSettings(expo)]),
});
afterAll(async () => {
  await Promise.all([expo.close(), apns.close(), fcm.close()]);
  rmSync(folder, { recursive: true });
});

const person = (): Promise<Account> => createAccount(store, { tier: 'TEAM', urls: stack.urls });

async function registerDevice(
  { client }: Account,
  platform: Platform = 'expo',
): Promise<{ id: string; token: string }> {
  const token = newPushToken[platform]();
  const { status, body } = await client.call('POST', '/api/devices/register', {
    json: { push_token: token, platform, device_id: randomUUID() },
  });
  expect(status).toBe(201);
  return { id: body.id, token };
}

async function subscribe({ client }: Account, topicName: string, settings: object = {}): Promise<string> {
  const { status, body } = await client.call('POST', '/api/subscriptions', {
    json: { topic_name: topicName, mobile_notification_settings: settings },
  });
  expect(status).toBe(201);
  return body.id;
}

async function publish(
  { client }: Account,
  topicName: string,
  text: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const { status, body } = await client.call('POST', `/${topicName}`, { text, headers });
  expect(status).toBe(200);
  return body.id;
}

const pushesTo = (token: string): ExpoPush[] => expo.pushes.filter((push) => push.token === token);

test("a published message reaches its subscribers' phones promptly and once", async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  const [first, second] = [await registerDevice(reader), await registerDevice(reader)];
  const subscriptionId = await subscribe(reader, topic.name);
  const id = await publish(owner, topic.name, 'the pump stopped', {
    'X-Title': 'Pump',
    'X-Priority': '5',
    'X-Tags': 'pump,cellar',
  });
  await eventually(() =>
    expect([pushesTo(first.token), pushesTo(second.token)]).toMatchObject([{ length: 1 }, { length: 1 }]),
  );
  expect(pushesTo(first.token)[0]!.message).toMatchObject({
    title: 'Pump',
    body: 'the pump stopped',
    priority: 'high',
    collapseId: id,
    data: { message_id: id, topic: topic.name, topic_id: topic.id, priority: 5, tags: ['pump', 'cellar'] },
  });
  await eventually(async () => {
    const { body } = await reader.client.call('GET', '/api/subscriptions');
    expect(body.subscriptions).toMatchObject([{ id: subscriptionId, last_notified_at: expect.any(String) }]);
  });
});

test('a message reaches the phone of a member whom the team subscribed', async () => {
  const [owner, member] = [await person(), await person()];
  const teamId = await insertTeam(store.documents, owner, { isActive: true });
  await insertMember(store.documents, teamId, member, 'member');
  const topic = await createTopic(owner, { team_id: teamId, access_level: 'private' });
  const { token } = await registerDevice(member);
  const { status } = await owner.client.call('POST', `/api/teams/${teamId}/subscriptions`, {
    json: { topic_name: topic.name, members: 'all', mobile_notification_settings: { priority_threshold: 4 } },
  });
  expect(status).toBe(201);
  await publish(owner, topic.name, 'below the threshold of the team', { 'X-Priority': '3' });
  const wanted = await publish(owner, topic.name, 'the pump stopped', { 'X-Priority': '4' });
  await eventually(() => expect(pushesTo(token).map(({ messageId }) => messageId)).toEqual([wanted]));
});

test('a subscriber’s filter decides which messages reach the phone', async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  const { token } = await registerDevice(reader);
  await subscribe(reader, topic.name, { priority_threshold: 4, tags_filter: ['disk'] });
  await publish(owner, topic.name, 'too low', { 'X-Priority': '3', 'X-Tags': 'disk' });
  await publish(owner, topic.name, 'another tag', { 'X-Priority': '5', 'X-Tags': 'net' });
  const wanted = await publish(owner, topic.name, 'full', { 'X-Priority': '4', 'X-Tags': 'net,disk' });
  await eventually(() => expect(pushesTo(token).map(({ messageId }) => messageId)).toEqual([wanted]));
});

test('a device with a dead token becomes inactive, and a test push reports it', async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  const { id, token } = await registerDevice(reader);
  await subscribe(reader, topic.name);
  expo.script(token, { kind: 'ticket-error', error: 'DeviceNotRegistered' });
  await publish(owner, topic.name, 'hello');
  await eventually(async () =>
    expect((await reader.client.call('GET', `/api/devices/${id}`)).body).toMatchObject({ is_active: false }),
  );
  expect(await reader.client.call('POST', `/api/devices/${id}/test`)).toMatchObject({
    status: 400,
    body: { detail: 'Device is inactive' },
  });
});

test('a removed device or subscription gets no more pushes', async () => {
  const [owner, reader, leaver] = [await person(), await person(), await person()];
  const topic = await createTopic(owner);
  const [gone, kept, left] = [await registerDevice(reader), await registerDevice(reader), await registerDevice(leaver)];
  await subscribe(reader, topic.name);
  const subscriptionId = await subscribe(leaver, topic.name);
  const first = await publish(owner, topic.name, 'to all');
  const idsTo = ({ token }: { token: string }) => pushesTo(token).map(({ messageId }) => messageId);
  await eventually(() => expect([gone, kept, left].map(idsTo)).toEqual([[first], [first], [first]]));
  expect((await reader.client.call('DELETE', `/api/devices/${gone.id}`)).status).toBe(204);
  expect((await leaver.client.call('DELETE', `/api/subscriptions/${subscriptionId}`)).status).toBe(204);
  const second = await publish(owner, topic.name, 'to the remaining subscribers');
  await eventually(() => expect(idsTo(kept)).toEqual([first, second]));
  // Their push would have been sent with the one that arrived, and a later one has arrived as well.
  const third = await publish(owner, topic.name, 'once more');
  await eventually(() => expect(idsTo(kept)).toEqual([first, second, third]));
  expect([gone, left].map(idsTo)).toEqual([[first], [first]]);
});

test('sends a test push', async () => {
  const reader = await person();
  const { id, token } = await registerDevice(reader);
  expect((await reader.client.call('POST', `/api/devices/${id}/test`)).status).toBe(200);
  await eventually(() => expect(pushesTo(token)).toMatchObject([{ message: { data: { test: true } } }]));
});

test.each([
  { response: undefined, outcome: { status: 'sent', reason: null }, isActive: true },
  {
    response: 'DeviceNotRegistered',
    outcome: { status: 'dead_token', reason: 'DeviceNotRegistered' },
    isActive: false,
  },
  {
    response: 'MessageTooBig',
    outcome: { status: 'failed', reason: expect.stringContaining('MessageTooBig') },
    isActive: true,
  },
])('a device shows the outcome of a test push: $outcome.status', async ({ response, outcome, isActive }) => {
  const reader = await person();
  const { id, token } = await registerDevice(reader);
  if (response !== undefined) expo.script(token, { kind: 'ticket-error', error: response });
  const device = async () => (await reader.client.call('GET', `/api/devices/${id}`)).body;
  expect((await reader.client.call('POST', `/api/devices/${id}/test`)).status).toBe(200);
  await eventually(async () => expect(await device()).toMatchObject({ is_active: isActive, last_test: outcome }));
  const renewed = { push_token: newPushToken.expo(), platform: 'expo', device_id: (await device()).device_id };
  expect(await reader.client.call('POST', '/api/devices/register', { json: renewed })).toMatchObject({
    status: 201,
    body: { id, last_test: null },
  });
});

test("the ledger shows the provider's response for each device", async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  const [well, dead] = [await registerDevice(reader), await registerDevice(reader)];
  await subscribe(reader, topic.name);
  expo.script(dead.token, { kind: 'ticket-error', error: 'DeviceNotRegistered' });
  const id = await publish(owner, topic.name, 'hello');
  const updated_at = expect.any(String);
  await eventually(async () =>
    expect((await reader.client.call('GET', `/api/messages/${id}/deliveries`)).body.deliveries).toEqual([
      {
        device_id: dead.id,
        platform: 'expo',
        status: 'dead_token',
        reason: expect.stringContaining('DeviceNotRegistered'),
        attempts: 1,
        updated_at,
      },
      { device_id: well.id, platform: 'expo', status: 'sent', reason: null, attempts: 1, updated_at },
    ]),
  );
  expect((await owner.client.call('GET', `/api/messages/${id}/deliveries`)).body.counts).toMatchObject({
    sent: 1,
    dead_token: 1,
    failed: 0,
  });
});

test('an iPhone gets pushes through APNs according to its subscription until APNs reports it as unregistered', async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  const { id: deviceId, token } = await registerDevice(reader, 'ios');
  await subscribe(reader, topic.name, { notification_sound: 'bell.caf' });
  const id = await publish(owner, topic.name, 'the pump stopped', { 'X-Priority': '5', 'X-Tags': 'pump' });
  const taken = () => apns.pushes.filter((push) => push.token === token);
  await eventually(() =>
    expect(taken()).toMatchObject([
      {
        headers: { 'apns-priority': '10', 'apns-collapse-id': id, 'apns-topic': apns.bundleId },
        payload: {
          aps: { alert: { title: topic.name, body: 'the pump stopped' }, sound: 'bell.caf' },
          message_id: id,
          topic: topic.name,
          topic_id: topic.id,
          priority: 5,
          tags: ['pump'],
        },
      },
    ]),
  );
  expect((await reader.client.call('POST', `/api/devices/${deviceId}/test`)).status).toBe(200);
  await eventually(() => expect(taken()[1]).toMatchObject({ payload: { test: true } }));

  // Reported as unregistered before its latest registration, so the report concerns an earlier one.
  apns.script(
    token,
    { kind: 'error', status: 410, reason: 'Unregistered', timestamp: Date.now() - 3_600_000 },
    { kind: 'error', status: 410, reason: 'Unregistered', timestamp: Date.now() + 60_000 },
  );
  const statusOf = async (messageId: string) =>
    (await reader.client.call('GET', `/api/messages/${messageId}/deliveries`)).body.deliveries[0];
  const isActive = async () => (await reader.client.call('GET', `/api/devices/${deviceId}`)).body.is_active;
  const second = await publish(owner, topic.name, 'again');
  await eventually(async () =>
    expect(await statusOf(second)).toMatchObject({
      device_id: deviceId,
      platform: 'ios',
      status: 'dead_token',
      reason: 'Unregistered',
    }),
  );
  expect(await isActive()).toBe(true);
  await publish(owner, topic.name, 'and again');
  await eventually(async () => expect(await isActive()).toBe(false));
});

test('retires a phone only after APNs rejected its token twice while accepting another’s, unless the token is new', async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  const { id: deviceId, token } = await registerDevice(reader, 'ios');
  await subscribe(reader, topic.name);
  const bad = { kind: 'error', status: 400, reason: 'BadDeviceToken' } as const;
  const publishBad = async () => {
    const id = await publish(owner, topic.name, 'hello');
    await eventually(async () =>
      expect((await reader.client.call('GET', `/api/messages/${id}/deliveries`)).body.deliveries).toMatchObject([
        { device_id: deviceId, status: 'dead_token', reason: 'BadDeviceToken' },
      ]),
    );
  };
  const isActive = async () => (await reader.client.call('GET', `/api/devices/${deviceId}`)).body.is_active;
  apns.script(token, bad);
  await publishBad();
  expect(await isActive()).toBe(true);
  const renewed = newPushToken.ios();
  apns.script(renewed, bad);
  expect((await reader.client.call('PUT', `/api/devices/${deviceId}`, { json: { push_token: renewed } })).status).toBe(
    200,
  );
  await publishBad();
  expect(await isActive()).toBe(true);
  const other = await registerDevice(owner, 'ios');
  expect((await owner.client.call('POST', `/api/devices/${other.id}/test`)).status).toBe(200);
  await eventually(() => expect(apns.pushes.some(({ token: to }) => to === other.token)).toBe(true));
  await publishBad();
  await eventually(async () => expect(await isActive()).toBe(false));
});

test('an Android phone gets pushes through FCM until FCM reports it as unregistered, and each phone uses its own provider', async () => {
  const [owner, reader] = [await person(), await person()];
  const topic = await createTopic(owner);
  const [android, iphone, expoPhone] = [
    await registerDevice(reader, 'android'),
    await registerDevice(reader, 'ios'),
    await registerDevice(reader),
  ];
  await subscribe(reader, topic.name, { vibrate_enabled: false });
  const id = await publish(owner, topic.name, 'the pump stopped', { 'X-Priority': '5', 'X-Tags': 'pump' });
  const taken = () => fcm.pushes.filter((push) => push.token === android.token);
  await eventually(() =>
    expect(taken()).toMatchObject([
      {
        message: {
          notification: { title: topic.name, body: 'the pump stopped' },
          data: { message_id: id, topic: topic.name, topic_id: topic.id, priority: '5', tags: '["pump"]' },
          android: { priority: 'high', notification: { tag: id, sound: 'default', channel_id: 'no-vibration' } },
        },
      },
    ]),
  );
  await eventually(() =>
    expect([apns.pushes.filter((push) => push.token === iphone.token), pushesTo(expoPhone.token)]).toMatchObject([
      { length: 1 },
      { length: 1 },
    ]),
  );
  fcm.script(android.token, { kind: 'error', status: 404, code: 'UNREGISTERED' });
  await publish(owner, topic.name, 'again');
  await eventually(async () =>
    expect((await reader.client.call('GET', `/api/devices/${android.id}`)).body).toMatchObject({ is_active: false }),
  );
});
