import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startSmtpSimulator, type SmtpSimulator } from '@tocsin/simulators/smtp-simulator.ts';
import type { Stack } from '../../tools/stack/start-stack.ts';
import { startOwnStack } from '../support/own-stack.ts';
import { newRegistration } from '../support/registration.ts';
import { Client, newTopicName } from '../support/stack.ts';

const adminToken = 'the-operator-of-this-test';
let smtp: SmtpSimulator;
let running: Stack;

// With a mail server: without one, links are logged intentionally.
beforeAll(async () => {
  smtp = await startSmtpSimulator();
  running = await startOwnStack({
    LOG_LEVEL: 'trace',
    EXPO_URL: 'http://127.0.0.1:9',
    SMTP_URL: smtp.url,
    ADMIN_TOKEN: adminToken,
    RATE_LIMITS: 'off',
  });
});
afterAll(async () => {
  await running?.stop();
  await smtp?.close();
});

/** The token in the count-th email, with lines folded by quoted-printable joined. */
const mailedToken = (count: number): Promise<string> =>
  eventually(() => {
    const raw = smtp.mails[count - 1]!.raw.replaceAll('=\r\n', '').replaceAll('=3D', '=');
    return /token=([\w-]{43})/.exec(raw)![1]!;
  });

/** Opens an event stream and closes it after its first event. */
function lookAt(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(running.urls[0]! + path, { agent: false }, (response) => {
      response.once('data', () => {
        request.destroy();
        resolve(response.statusCode!);
      });
    });
    request.on('error', reject);
  });
}

test('no password, token, key, emailed token or text reaches a log, however it is sent', async () => {
  const secrets = new Map<string, string>([['admin token', adminToken]]);
  const secret = (name: string, value: string): string => {
    secrets.set(name, value);
    return value;
  };
  const client = new Client(undefined, running.urls);
  const { email, username } = newRegistration();
  await client.call('POST', '/auth/register', {
    json: { email, username, password: secret('password', 'a long test password'), terms_accepted: true },
  });
  const verification = secret('verification token', await mailedToken(1));
  for (const _ of ['used', 'used again'])
    expect((await client.call('GET', `/auth/verify-email?token=${verification}`)).status).toBe(302);
  await client.call('POST', '/auth/password-reset/request', { json: { email } });
  const reset = {
    token: secret('reset token', await mailedToken(2)),
    new_password: secret('new password', 'another long test password'),
  };
  expect((await client.call('POST', '/auth/password-reset/confirm', { json: reset })).status).toBe(200);
  await client.call('POST', '/auth/login', {
    json: { email, password: secret('wrong password', 'a wrong guess at it') },
  });
  const login = (await client.call('POST', '/auth/login', { json: { email, password: reset.new_password } })).body;
  const access = secret('access token', login.access_token as string);
  const refreshToken = secret('refresh token', login.refresh_token as string);
  const owner = new Client(access, running.urls);
  const name = newTopicName();
  await owner.call('POST', '/api/topics', { json: { name, access_level: 'private' } });
  const key = secret('API key', (await owner.call('POST', '/api/keys', { json: { name: 'k' } })).body.key as string);
  const made = await owner.call('POST', `/api/topics/${name}/access-tokens`, {
    json: { name: 't', permissions: ['read', 'write'] },
  });
  const topicToken = secret('topic token', made.body.token as string);
  const auth = secret('auth', Buffer.from(`Bearer ${key}`).toString('base64url'));
  const basic = secret('basic', Buffer.from(`:${topicToken}`).toString('base64'));

  const text = secret('text', 'a text that stays inside');
  const sent = [
    [`/${name}?api_key=${key}`, {}],
    [`/${name}?auth=${auth}`, {}],
    [`/${name}`, { 'X-Topic-Token': topicToken }],
    [`/${name}`, { 'X-API-Key': key }],
    [`/${name}`, { Authorization: `Basic ${basic}` }],
  ] as const;
  for (const [path, headers] of sent) expect((await client.call('POST', path, { headers, text })).status).toBe(200);
  for (const query of [`token=${topicToken}`, `token=${access}`, `auth=${auth}`, `api_key=${key}`])
    expect(await lookAt(`/${name}/sse?${query}`)).toBe(200);
  for (const path of [
    `/api/nowhere?api_key=${key}`,
    `/nowhere/json?auth=${auth}`,
    `/%zz?token=${topicToken}`,
    `/${name}/ws?token=${topicToken}`,
  ]) {
    expect((await client.call('GET', path)).status).toBeGreaterThanOrEqual(400);
  }
  const device = {
    push_token: secret('push token', 'ExponentPushToken[a-token-that-stays-inside]'),
    platform: 'expo',
    device_id: 'd',
    device_name: 'a\n{"level":"fatal","msg":"forged"}',
  };
  const { id: deviceId } = (await owner.call('POST', '/api/devices/register', { json: device })).body;
  expect((await owner.call('POST', `/api/devices/${deviceId}/test`)).status).toBe(200);
  expect((await owner.call('POST', '/api/subscriptions', { json: { topic_name: name } })).status).toBe(201);
  const session = secret(
    'session',
    (await owner.call('POST', '/api/sse/sessions', { json: { topics: [name] } })).body.session_id as string,
  );
  expect(await lookAt(`/sse?session=${session}`)).toBe(200);
  const title = secret('title', 'a title that stays inside');
  expect(
    (
      await owner.call('POST', `/${name}`, {
        text: `${text}\n{"level":"fatal","msg":"forged"}`,
        headers: { 'X-Title': title, 'X-Request-Id': 'a b', 'User-Agent': 'a' },
      })
    ).status,
  ).toBe(200);
  await client.call('GET', `/%0a%7B%22level%22:%22fatal%22%7D/json?x=%0a%7B%22msg%22:%22forged%22%7D`, {
    headers: { 'User-Agent': 'x {"msg":"forged"}' },
  });
  expect(
    (await new Client(adminToken, running.urls).call('PUT', `/admin/users/${email}/tier`, { json: { tier: 'TEAM' } }))
      .status,
  ).toBe(200);
  for (const status of [200, 401]) {
    const headers = { 'User-Agent': `client ${status}` };
    const answer = await client.call('POST', '/auth/refresh', { json: { refresh_token: refreshToken }, headers });
    expect(answer.status).toBe(status);
    if (status === 200) secret('next refresh token', answer.body.refresh_token as string);
  }
  const last = (await client.call('POST', '/auth/login', { json: { email, password: reset.new_password } })).body;
  const removed = await new Client(last.access_token as string, running.urls).call('DELETE', '/api/users/me', {
    json: { password: reset.new_password },
  });
  expect(removed.status).toBe(204);

  const logs = running.servers.map(({ logFile }) => readFileSync(logFile, 'utf8')).join('\n');
  // These logs cover the test: they contain the warning about the reused refresh token.
  expect(logs).toContain('refresh token reused');
  // Each entry is one line of the program, regardless of line breaks in the input.
  for (const line of logs.split('\n').filter((one) => one.startsWith('{'))) {
    expect(JSON.parse(line)).toMatchObject({
      level: expect.stringMatching(/^(trace|debug|info|warn|error)$/),
      time: expect.any(String),
      service: expect.any(String),
    });
  }
  expect(logs).not.toContain('forged');
  expect([...secrets].filter(([, value]) => logs.includes(value)).map(([what]) => what)).toEqual([]);
});
