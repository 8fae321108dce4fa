import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { Client, createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const byKey = (key: string) => stack.caller({ 'X-API-Key': key });
const makeKey = async (owner: Person, fields: object = {}) =>
  (await owner.post('/api/keys', { name: 'ci', ...fields })).body;
const inTenMinutes = () => new Date(Date.now() + 600_000).toISOString();

test('a key shows its secret once and by default has all scopes and no expiry', async () => {
  const owner = await stack.person();
  const { status, body } = await owner.post('/api/keys', {
    name: 'ci',
    description: null,
    scopes: null,
    expires_at: null,
  });
  expect(status).toBe(201);
  const { key, ...shown } = body;
  expect(key).toMatch(/^toc_[\w-]{43}$/);
  expect(shown).toEqual({
    id: expect.any(String),
    user_id: owner.id,
    name: 'ci',
    key_prefix: key.slice(0, 12),
    description: '',
    scopes: ['*'],
    request_count: 0,
    is_active: true,
    is_valid: true,
    created_at: expect.any(String),
    last_used: null,
    last_used_at: null,
    expires_at: null,
  });
  expect((await owner.get('/api/keys')).body).toEqual([shown]);
});

test('keys are listed newest first, and only to their owner', async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  await makeKey(owner, { name: 'one' });
  await makeKey(owner, { name: 'two', description: 'for the build', scopes: ['publish', 'publish', 'keys:read'] });
  const { body } = await owner.get('/api/keys');
  expect(body).toMatchObject([
    { name: 'two', description: 'for the build', scopes: ['publish', 'keys:read'] },
    { name: 'one' },
  ]);
  expect((await other.get('/api/keys')).body).toEqual([]);
});

test.each([
  [{}, 'name: is required'],
  [{ name: '' }, 'name: must be 1 to 80 characters'],
  [{ name: 'k', scopes: [] }, 'scopes: must name at least one scope'],
  [{ name: 'k', scopes: ['root'] }, /^scopes\.0: must be one of \*, publish/],
  [{ name: 'k', expires_at: 'soon' }, 'expires_at: must be a date or an RFC 3339 time'],
  [{ name: 'k', expires_at: '2025-02-30' }, 'expires_at: must be a date or an RFC 3339 time'],
  [{ name: 'k', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at: must be in the future'],
])('refuses a key with %j', async (fields, detail) => {
  const owner = await stack.person();
  const answer = await owner.post('/api/keys', fields);
  expect(answer.status).toBe(422);
  expect(answer.body.detail).toMatch(detail);
});

test('a time without an offset is UTC, and any offset is accepted', async () => {
  const owner = await stack.person();
  expect((await makeKey(owner, { expires_at: '2999-01-01' })).expires_at).toBe('2999-01-01T00:00:00.000Z');
  expect((await makeKey(owner, { expires_at: '2999-01-01T12:00:00.5' })).expires_at).toBe('2999-01-01T12:00:00.500Z');
  expect((await makeKey(owner, { expires_at: '2999-01-01T12:00+02:00' })).expires_at).toBe('2999-01-01T10:00:00.000Z');
});

test('a revoked key is refused immediately and works again once it is enabled', async () => {
  const owner = await stack.person();
  const { id, key } = await makeKey(owner);
  expect((await byKey(key).get('/api/keys')).status).toBe(200);
  for (const _ of ['first', 'again']) {
    expect(await owner.post(`/api/keys/${id}/revoke`)).toMatchObject({
      status: 200,
      body: { id, is_active: false, is_valid: false },
    });
  }
  expect(await byKey(key).get('/api/keys')).toMatchObject({
    status: 401,
    body: { detail: 'Could not validate credentials' },
  });
  for (const _ of ['first', 'again']) {
    expect(await owner.post(`/api/keys/${id}/enable`)).toMatchObject({
      status: 200,
      body: { id, is_active: true, is_valid: true },
    });
  }
  const listed = await byKey(key).get('/api/keys');
  expect(listed.status).toBe(200);
  expect(listed.body[0]).not.toHaveProperty('key');
});

test('revocation and deletion of a key apply on all nodes', async () => {
  const owner = await stack.person();
  const onOther = (key: string) => new Client(key).call('GET', '/api/keys', { node: 1 });
  for (const end of [
    (id: string) => owner.post(`/api/keys/${id}/revoke`),
    (id: string) => owner.delete(`/api/keys/${id}`),
  ]) {
    const { id, key } = await makeKey(owner);
    expect((await onOther(key)).status).toBe(200);
    await end(id);
    await eventually(async () =>
      expect(await onOther(key)).toMatchObject({ status: 401, body: { detail: 'Could not validate credentials' } }),
    );
  }
});

test('a deleted key cannot be enabled again', async () => {
  const owner = await stack.person();
  const { id, key } = await makeKey(owner);
  expect((await byKey(key).get('/api/keys')).status).toBe(200);
  expect((await owner.delete(`/api/keys/${id}`)).status).toBe(204);
  expect((await byKey(key).get('/api/keys')).status).toBe(401);
  expect(await owner.delete(`/api/keys/${id}`)).toMatchObject({ status: 404, body: { detail: 'API key not found' } });
});

test('an expired key is reported as expired, is refused, and cannot be enabled', async () => {
  const owner = await stack.person();
  // The expiry must still be in the future when the request arrives, also on a busy machine.
  const { id, key } = await makeKey(owner, { expires_at: new Date(Date.now() + 5_000).toISOString() });
  await eventually(async () => {
    expect(await byKey(key).get('/api/keys')).toMatchObject({ status: 401, body: { detail: 'Token has expired' } });
  });
  expect((await owner.get('/api/keys')).body).toMatchObject([{ is_active: true, is_valid: false }]);
  expect(await owner.post(`/api/keys/${id}/enable`)).toMatchObject({
    status: 400,
    body: { detail: 'API key has expired' },
  });
  expect(await owner.post(`/api/keys/${id}/revoke`)).toMatchObject({ status: 200, body: { is_active: false } });
});

test("returns 404 for another account's key and 422 for a malformed ID", async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  const { id } = await makeKey(owner);
  for (const answer of [
    await other.post(`/api/keys/${id}/revoke`),
    await other.post(`/api/keys/${id}/enable`),
    await other.delete(`/api/keys/${id}`),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { detail: 'API key not found' } });
  }
  expect(await other.delete('/api/keys/7')).toMatchObject({ status: 422, body: { detail: 'key_id: must be a UUID' } });
  expect((await stack.caller().delete('/api/keys/7')).status).toBe(401);
});

test('a key cannot create a key with more scopes than it has', async () => {
  const owner = await stack.person();
  const { key } = await makeKey(owner, { scopes: ['keys:write', 'publish'] });
  expect(await byKey(key).post('/api/keys', { name: 'k' })).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: *' },
  });
  expect(await byKey(key).post('/api/keys', { name: 'k', scopes: ['publish', 'subscribe'] })).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: subscribe' },
  });
  expect((await byKey(key).post('/api/keys', { name: 'k', scopes: ['publish'] })).status).toBe(201);
  expect(await byKey(key).get('/api/keys')).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: keys:read' },
  });
  const all = await makeKey(owner);
  expect((await byKey(all.key).post('/api/keys', { name: 'k', scopes: ['*', 'subscribe'] })).status).toBe(201);
});

test('a key cannot enable a key with more scopes or a later expiry than its own', async () => {
  const owner = await stack.person();
  const revoked = async (fields: object) => {
    const { id } = await makeKey(owner, fields);
    expect((await owner.post(`/api/keys/${id}/revoke`)).status).toBe(200);
    return id as string;
  };
  const expires_at = inTenMinutes();
  const { key } = await makeKey(owner, { scopes: ['keys:write', 'publish'], expires_at });
  const enable = (id: string) => byKey(key).post(`/api/keys/${id}/enable`);
  expect(await enable(await revoked({ expires_at }))).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: *' },
  });
  for (const later of [null, '2999-01-01'])
    expect(await enable(await revoked({ scopes: ['publish'], expires_at: later }))).toMatchObject({
      status: 403,
      body: { detail: 'The key is valid longer than the API key in use' },
    });
  expect(await enable(await revoked({ scopes: ['publish'], expires_at }))).toMatchObject({
    status: 200,
    body: { is_active: true },
  });
});

test('a credential that a key creates is not valid longer than the key', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const expires_at = inTenMinutes();
  const { key } = await makeKey(owner, { scopes: ['keys:write', 'topics:write'], expires_at });
  for (const [path, fields] of [
    ['/api/keys', { name: 'k', scopes: ['keys:write'] }],
    [`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'] }],
  ] as const) {
    expect(await byKey(key).post(path, fields)).toMatchObject({ status: 201, body: { expires_at } });
    expect(await byKey(key).post(path, { ...fields, expires_at: '2999-01-01' })).toMatchObject({
      status: 422,
      body: { detail: 'expires_at: must not be later than the expiry of the API key in use' },
    });
  }
  const endless = await makeKey(owner);
  expect((await byKey(endless.key).post('/api/keys', { name: 'k' })).body.expires_at).toBeNull();
});

test('the last use of a key is visible immediately on the node that handled the request', async () => {
  const owner = await stack.person();
  const { key } = await makeKey(owner);
  for (let use = 0; use < 3; use++) await byKey(key).get('/api/topics');
  const [shown] = (await owner.get('/api/keys')).body;
  expect(shown).toMatchObject({ request_count: 3, last_used: expect.any(String) });
  expect(shown.last_used_at).toBe(shown.last_used);
});

test('concurrent creation stores at most 100 keys', async () => {
  const owner = await stack.person();
  const make = (count: number) =>
    Promise.all(Array.from({ length: count }, () => owner.post('/api/keys', { name: 'k' })));
  // Most keys are created sequentially: concurrent creations wait for each other.
  for (let made = 0; made < 60; made += 1) await make(1);
  expect((await make(30)).every((answer) => answer.status === 201)).toBe(true);
  const last = await make(20);
  expect(last.filter((answer) => answer.status === 201).length).toBe(10);
  expect(last.find((answer) => answer.status !== 201)).toMatchObject({
    status: 403,
    body: { detail: 'API key limit reached' },
  });
  expect((await owner.get('/api/keys')).body.length).toBe(100);
});

test("a key with the right scope opens its user's private topics and no others", async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  const name = newTopicName();
  await owner.post('/api/topics', { name, access_level: 'private' });
  const read = (key: string) => byKey(key).get(`/api/topics/${name}`);
  expect((await read((await makeKey(owner)).key)).status).toBe(200);
  expect(await read((await makeKey(owner, { scopes: ['publish'] })).key)).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: topics:read' },
  });
  expect(await read((await makeKey(other)).key)).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions to access this topic' },
  });
  expect((await owner.post('/api/keys', { name: 'k', expires_at: inTenMinutes() })).status).toBe(201);
});
