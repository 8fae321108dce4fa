import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { mailsTo } from '../support/mailbox.ts';
import { newRegistration } from '../support/registration.ts';
import { createAccount, newAddress } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';
import { useStreams } from '../support/use-streams.ts';

// A public installation: https, metrics on a separate port, no operator token and no proxy
// that is trusted. The requests are those of a foreign client.
const { stack, store } = await useOwnStack({
  BASE_URL: 'https://tocsin.example',
  APP_URL: 'https://app.example',
  METRICS_PORT: '0',
  CORS_ORIGINS: '*',
});
const streams = useStreams(() => stack.urls);

/** A request with any Host header, which `fetch` cannot send. */
async function ask(method: string, path: string, options: { headers?: Record<string, string>; body?: object } = {}) {
  const request = httpRequest(new URL(path, stack.urls[0]), {
    method,
    agent: false,
    headers: { ...(options.body && { 'Content-Type': 'application/json' }), ...options.headers },
  });
  request.end(options.body && JSON.stringify(options.body));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts what it finds
  return { status: response.statusCode!, headers: response.headers, body: (await json(response)) as any };
}

test('with an https BASE_URL every kind of response has Strict-Transport-Security', async () => {
  const hsts = { 'strict-transport-security': 'max-age=31536000' };
  for (const path of ['/health/live', '/api/topics/public', '/auth/me', '/no/such/path', '/%zz'])
    expect((await ask('GET', path)).headers).toMatchObject(hsts);
  expect((await ask('POST', '/no-topic')).headers).toMatchObject(hsts);
  expect((await streams.ws('/no-topic/ws')).headers).toMatchObject(hsts);
});

test('with CORS_ORIGINS=* every site may read public responses, without cookies', async () => {
  const { headers } = await ask('GET', '/api/topics/public', { headers: { Origin: 'https://any.example' } });
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(headers).not.toHaveProperty('access-control-allow-credentials');
});

test('metrics are absent from the API port if they have a separate port', async () => {
  for (const path of ['/metrics', '/metrics/', '/METRICS']) {
    const { status, body } = await ask('GET', path);
    expect([404, 405]).toContain(status);
    expect(body).toEqual({ detail: expect.any(String) });
  }
});

test("without an operator token the operator's endpoints do not exist for any caller", async () => {
  const account = await createAccount(store, { urls: stack.urls });
  for (const token of [undefined, '', 'undefined', 'null', account.client.token]) {
    const answer = await ask('PUT', `/admin/users/${account.email}/tier`, {
      body: { tier: 'TEAM' },
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    });
    expect([answer.status, answer.body]).toEqual([404, { detail: 'Not found' }]);
  }
});

test('links use the configured URLs, whatever Host and forwarding headers a request has', async () => {
  const evil = {
    Host: 'evil.example',
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-Proto': 'http',
    Forwarded: 'host=evil.example',
    'X-Original-Host': 'evil.example',
  };
  const registration = newRegistration();
  expect((await ask('POST', '/auth/register', { headers: evil, body: registration })).status).toBe(201);
  await ask('POST', '/auth/password-reset/request', { headers: evil, body: { email: registration.email } });
  const mails = await eventually(async () => {
    const all = [
      ...(await mailsTo(registration.email, 'verify-email', stack)),
      ...(await mailsTo(registration.email, 'password-reset', stack)),
    ];
    expect(all).toHaveLength(2);
    return all;
  });
  const links = mails.map((mail) => /^X-Tocsin-Link: (\S+)\r$/m.exec(mail)![1]!);
  expect(links.map((link) => new URL(link).origin)).toEqual(['https://tocsin.example', 'https://app.example']);
  expect(mails.join('')).not.toContain('evil.example');
  const verified = await new Promise<string | undefined>((resolve, reject) => {
    httpRequest(
      new URL('/auth/verify-email?token=x&redirect=https://evil.example', stack.urls[0]),
      { headers: evil },
      (response) => resolve(response.resume().headers.location),
    )
      .on('error', reject)
      .end();
  });
  expect(verified).toMatch(/^https:\/\/app\.example\/auth\/verified\?status=error&message=/);
});

test('ignores X-Forwarded-For if no proxy is trusted', async () => {
  // More than two windows allow, because one may end during the test; other tests here share the address.
  const answers = await Promise.all(
    Array.from({ length: 140 }, () =>
      ask('GET', '/api/topics/public', {
        headers: { 'X-Forwarded-For': newAddress(), 'X-Real-IP': newAddress(), Forwarded: `for=${newAddress()}` },
      }),
    ),
  );
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(20);
});
