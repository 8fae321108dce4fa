import { expect, test } from '@jest/globals';
import { Client, createTopic, type Answer, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const badCredential = { status: 401, body: { detail: 'Could not validate credentials' } };

function expectJsonError(answer: Answer, status: number, detail: string): void {
  expect([answer.status, answer.body]).toEqual([status, { detail }]);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
}

test.each([
  '/api/nothing',
  '/a/b/c',
  '/auth/nothing',
  '/admin/nothing/here',
  '/api/topics/x/y/z',
  '/API/topics',
  '/Auth/me',
  '/v1/nothing',
])('returns 404 for %s', async (path) => {
  const caller = path.startsWith('/admin/') ? new Client(testStack().env['ADMIN_TOKEN']) : new Client();
  for (const method of ['GET', 'POST', 'DELETE']) expectJsonError(await caller.call(method, path), 404, 'Not found');
});

test.each([
  ['DELETE', '/some-topic', 'POST, PUT'],
  ['GET', '/some-topic', 'POST, PUT'],
  ['PATCH', '/', 'GET, HEAD, POST, PUT'],
  ['POST', '/some-topic/json', 'GET, HEAD'],
  ['PUT', '/some-topic/sse', 'GET, HEAD'],
  ['POST', '/some-topic/ws', 'GET, HEAD'],
  ['PUT', '/api/topics', 'GET, HEAD, POST'],
  ['POST', '/api/topics/some-topic', 'DELETE, GET, HEAD, PATCH'],
  ['POST', '/api/topics/my', 'GET, HEAD'],
  ['GET', '/auth/login', 'POST'],
  ['POST', '/api/keys/1', 'DELETE'],
  ['DELETE', '/metrics', 'GET, HEAD'],
  ['OPTIONS', '/api/topics', 'GET, HEAD, POST'],
])('%s %s returns 405 with the allowed methods', async (method, path, allow) => {
  const answer = await new Client().call(method, path);
  expectJsonError(answer, 405, `Method not allowed: use ${allow}`);
  expect(answer.headers.get('allow')).toBe(allow);
});

test('checks credentials on unknown paths too, and a valid one does not count against the address', async () => {
  const person = await stack.person();
  for (const [method, path] of [
    ['GET', '/api/nothing'],
    ['DELETE', '/some-topic'],
    ['PUT', '/api/topics'],
  ] as const) {
    expect(await new Client('nonsense').call(method, path)).toMatchObject(badCredential);
    const answer = await person.client.call(method, path);
    expect([404, 405]).toContain(answer.status);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('10');
  }
});

test('endpoints that issue credentials ignore credentials sent to them', async () => {
  const stale = new Client('nonsense');
  const login = { email: 'nobody@example.org', password: 'x' };
  expect(
    (await stale.call('POST', '/auth/refresh', { json: { refresh_token: 'x' } })).headers.get('x-ratelimit-limit'),
  ).toBe('60');
  expect((await stale.call('POST', '/auth/login', { json: {} })).status).toBe(422);
  expect((await stale.call('POST', '/auth/password-reset/request', { json: { email: login.email } })).status).toBe(200);
  expect((await stale.call('POST', '/auth/nothing')).status).toBe(404);
  expect((await stale.call('DELETE', '/auth/login')).status).toBe(405);
  expect(await stale.call('GET', '/auth/me')).toMatchObject(badCredential);
});

test.each(['/%zz', '/%', '/%c3%28/json', '/api/topics/%e0%a4%a', '/%ff/ws'])(
  'refuses %s, which cannot be decoded',
  async (path) => {
    const client = new Client();
    const answer = await client.call('GET', path);
    expectJsonError(answer, 400, 'The path is not valid percent-encoding');
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('59');
    expect(await new Client('nonsense').call('POST', path)).toMatchObject(badCredential);
  },
);

test('refuses a query with more than 100 parameters and counts the request', async () => {
  const query = (count: number) => Array.from({ length: count }, (_, n) => `p${n}=${n}`).join('&');
  const client = new Client();
  const repeated = 'x=1&'.repeat(300);
  expect((await client.call('GET', `/api/topics/public?${repeated}${query(99)}`)).status).toBe(200);
  for (const [path, remaining] of [
    [`/api/topics/public?${query(101)}`, '58'],
    [`/nothing/here?${'&'.repeat(16_000)}`, '57'],
  ] as const) {
    const answer = await client.call('GET', path);
    expectJsonError(answer, 400, 'The query must have at most 100 parameters');
    expect(answer.headers.get('x-ratelimit-remaining')).toBe(remaining);
  }
});

test("returns the caller's X-Request-Id if it is valid", async () => {
  const withId = async (id: string) =>
    (await new Client().call('GET', '/api/topics/public', { headers: { 'X-Request-Id': id } })).headers.get(
      'x-request-id',
    );
  expect(await withId('order-17/retry:2')).toBe('order-17/retry:2');
  expect(await withId('x'.repeat(128))).toBe('x'.repeat(128));
  for (const bad of ['x'.repeat(129), 'two words', '\u00fc', ''])
    expect(await withId(bad)).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
});

test('HEAD responds like GET without a body', async () => {
  const topic = await createTopic(await stack.person());
  await stack.caller().publish(topic.name);
  for (const path of [
    `/${topic.name}/json`,
    '/api/topics/public',
    `/api/topics/${topic.name}`,
    `/api/topics/${topic.name}/log`,
  ]) {
    const get = await new Client().call('GET', path);
    const head = await new Client().call('HEAD', path);
    expect([head.status, head.body, head.headers.get('content-type')]).toEqual([
      get.status,
      undefined,
      'application/json',
    ]);
    expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
  }
  expect(await new Client().call('HEAD', '/no-such-topic/json')).toMatchObject({ status: 404, body: undefined });
  expect((await new Client().call('HEAD', `/${topic.name}/ws`)).status).toBe(426);
  expect((await new Client().call('HEAD', `/${topic.name}`)).status).toBe(405);
});

test('responses are not cacheable and do not name the server software', async () => {
  const { headers } = await new Client().call('GET', '/api/topics/public');
  expect([
    headers.get('cache-control'),
    headers.get('x-content-type-options'),
    headers.get('etag'),
    headers.get('x-powered-by'),
    headers.get('server'),
  ]).toEqual(['no-store', 'nosniff', null, null, null]);
});

test('a JSON endpoint accepts no media type, another charset and +json, and returns 415 otherwise', async () => {
  const call = (type: string | undefined, text: string | Uint8Array<ArrayBuffer> = '{}') =>
    new Client().call('POST', '/auth/login', {
      text: typeof text === 'string' ? new TextEncoder().encode(text) : text,
      headers: type === undefined ? {} : { 'Content-Type': type },
    });
  for (const type of [undefined, 'application/json', 'Application/JSON; charset=utf-8', 'application/merge-patch+json'])
    expect((await call(type)).status).toBe(422);
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
  ]) {
    expectJsonError(await call(type), 415, 'Send the body as Content-Type: application/json');
  }
});

test.each([
  ['malformed', '{"email":', 400, 'The body is not valid JSON'],
  ['empty', '', 422, 'email: is required; password: is required'],
  ['unterminated nesting', '['.repeat(60_000), 400, 'The body is not valid JSON'],
  ['an array', '[]', 422, 'body: must be an object'],
  ['null', 'null', 422, 'body: is required'],
  ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 422, 'body: must be valid UTF-8'],
  ['too large', `{"email":"${'x'.repeat(65_536)}"}`, 413, 'The body must be at most 65536 bytes'],
])('refuses a body that is %s', async (_what, text, status, detail) => {
  expectJsonError(
    await new Client().call('POST', '/auth/login', { text, headers: { 'Content-Type': 'application/json' } }),
    status,
    detail,
  );
});

test('reports all invalid fields in one response', async () => {
  expectJsonError(
    await new Client().call('POST', '/auth/login', { json: { email: 7 } }),
    422,
    'email: must be a string; password: is required',
  );
});

test('checks run in order: credential, scope, existence, access, body, rules', async () => {
  const owner = await stack.person();
  const other = await stack.person();
  const topic = await createTopic(owner, { access_level: 'private' });
  const { key } = (await other.post('/api/keys', { name: 'k', scopes: ['subscribe'] })).body;
  const publish = async (client: Client, name: string) => {
    const { status, body } = await client.call('POST', `/${name}`, { text: 'x'.repeat(70_000) });
    return [status, body.detail];
  };
  expect(await publish(new Client('nonsense'), 'no-such-topic')).toEqual([401, 'Could not validate credentials']);
  expect(await publish(new Client(key as string), 'no-such-topic')).toEqual([403, 'Missing scope: publish']);
  expect(await publish(other.client, 'no-such-topic')).toEqual([404, 'Topic not found']);
  expect(await publish(new Client(), topic.name)).toEqual([401, 'Not authenticated']);
  expect(await publish(other.client, topic.name)).toEqual([403, 'Insufficient permissions to access this topic']);
  expect(await publish(owner.client, topic.name)).toEqual([413, 'The body must be at most 65536 bytes']);

  const patch = async (client: Client, id: string, text: string, type = 'text/plain') => {
    const { status, body } = await client.call('PATCH', `/api/topics/${id}`, {
      text,
      headers: { 'Content-Type': type },
    });
    return [status, body.detail];
  };
  expect(await patch(new Client(), '7', '{')).toEqual([401, 'Not authenticated']);
  expect(await patch(new Client(), topic.id, '{')).toEqual([401, 'Not authenticated']);
  expect(await patch(other.client, '7', '{')).toEqual([422, 'topic_id: must be a UUID']);
  expect(await patch(other.client, topic.id, '{')).toEqual([403, 'Insufficient permissions to access this topic']);
  expect(await patch(owner.client, topic.id, '{')).toEqual([415, 'Send the body as Content-Type: application/json']);
  expect(await patch(owner.client, topic.id, '{', 'application/json')).toEqual([400, 'The body is not valid JSON']);
  expect(await patch(owner.client, topic.id, '{"name":"api"}', 'application/json')).toEqual([
    422,
    'name: is reserved, choose another',
  ]);
});

test.each([
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['limit=x', 'limit'],
  ['limit=', 'limit'],
  ['limit=1.5', 'limit'],
  ['offset=-1', 'offset'],
  ['page=0', 'page'],
  ['per_page=101', 'per_page'],
  ['limit=5&limit=5', 'limit'],
])('/api/topics?%s returns 422', async (query, field) => {
  const answer = await new Client().call('GET', `/api/topics?${query}`);
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toMatch(new RegExp(`^${field}: `));
});

test('ignores unknown query parameters and fields', async () => {
  expect((await new Client().call('GET', '/api/topics?fields=a&fields=b&__proto__=1&constructor=2')).status).toBe(200);
  const person = await stack.person();
  const made = await person.post('/api/keys', {
    name: 'k',
    admin: true,
    user_id: 'somebody',
    is_active: false,
    request_count: 9,
  });
  expect(made).toMatchObject({ status: 201, body: { user_id: person.id, is_active: true, request_count: 0 } });
});
