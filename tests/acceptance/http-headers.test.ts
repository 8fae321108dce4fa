import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { createTopic, newAddress, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStreams } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();

/** A request that `fetch` cannot send. */
async function ask(
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: IncomingMessage['headers']; text: string }> {
  const request = httpRequest(new URL(path, testStack().urls[0]), {
    method,
    agent: false,
    headers: { 'X-Forwarded-For': newAddress(), ...headers },
  });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode!, headers: response.headers, text: await textOf(response) };
}

function expectSafe(headers: Headers | IncomingMessage['headers'], cacheControl = 'no-store'): void {
  const all = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  expect(all).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': cacheControl,
  });
  for (const name of ['x-powered-by', 'server', 'etag', 'strict-transport-security', 'set-cookie'])
    expect(all).not.toHaveProperty(name);
}

test('all kinds of responses have security headers and do not reveal the server software', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner, { access_level: 'private' });
  const answers = [
    await owner.get('/api/users/me'),
    await owner.get('/api/users/me/data'),
    await owner.post('/api/keys', { name: 'k' }),
    await owner.get('/api/keys'),
    await owner.publish(name),
    await stack.caller().get('/health/live'),
    await stack.caller().get('/auth/verify-email?token=x'),
    await stack.caller().get(`/${name}/json`),
    await owner.get('/api/keys/7'),
    await stack.caller().get('/no/such/path'),
    await stack.caller().delete(`/${name}`),
    await owner.client.call('POST', `/${name}`, { text: 'x'.repeat(70_000) }),
    await stack.caller().get('/%zz'),
    await owner.post('/api/topics', {}),
  ];
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201, 302, 400, 401, 404, 405, 413, 422]));
  for (const { headers } of answers) expectSafe(headers);
});

test('a login only sets a cookie that scripts cannot read', async () => {
  const { email, password } = await stack.person();
  const { headers } = await stack.caller().post('/auth/login', { email, password });
  expect(headers.get('set-cookie')).toMatch(/^tocsin_device=[^,]*; HttpOnly; SameSite=Lax$/);
  const others = new Headers(headers);
  others.delete('set-cookie');
  expectSafe(others);
});

test('streams and refused streams have security headers', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner, { access_level: 'private' });
  const token = owner.client.token;
  expectSafe((await streams.sse(`/${name}/sse`, { token })).headers, 'no-cache');
  expect((await streams.ws(`/${name}/ws`, { token })).headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  for (const refused of [await streams.sse(`/${name}/sse`), await streams.ws(`/${name}/ws`)]) {
    expect(refused.status).toBe(401);
    expectSafe(refused.headers);
  }
});

test('refuses TRACE and unknown methods without echoing the request', async () => {
  const { name } = await createTopic(await stack.person());
  for (const [path, status] of [
    ['/', 405],
    [`/${name}`, 405],
    [`/${name}/json`, 405],
    ['/api/keys', 405],
    ['/auth/login', 405],
    ['/health/live', 405],
    ['/no/such/path', 404],
  ] as const) {
    for (const method of ['TRACE', 'PROPFIND']) {
      const answer = await ask(method, path, { 'X-Mark': 'come back' });
      expect({ path, method, status: answer.status, body: JSON.parse(answer.text) }).toEqual({
        path,
        method,
        status,
        body: { detail: expect.any(String) },
      });
      expect(answer.text + JSON.stringify(answer.headers)).not.toContain('come back');
      expectSafe(answer.headers);
    }
  }
});

test('responses readable across origins never allow credentials, for any Origin', async () => {
  const own = new URL(testStack().urls[0]!).origin;
  for (const origin of [
    own,
    'null',
    'https://evil.example',
    `${own}.evil.example`,
    `${own}@evil.example`,
    own.replace('127', 'evil.127'),
  ]) {
    for (const path of ['/api/topics/public', '/auth/me', '/no/such/path']) {
      const { headers } = await ask('GET', path, { Origin: origin });
      expect({ origin, path, allowed: headers['access-control-allow-origin'] }).toEqual({
        origin,
        path,
        allowed: origin === own ? own : undefined,
      });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
  }
});
