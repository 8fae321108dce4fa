import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const byToken = (token: string) => stack.caller({ 'X-Topic-Token': token });

async function privateTopic() {
  const owner = await stack.person();
  const topic = await createTopic(owner, { access_level: 'private' });
  return { owner, topic, tokens: `/api/topics/${topic.name}/access-tokens` };
}

test('a token shows its secret once and is listed without it', async () => {
  const { owner, topic, tokens } = await privateTopic();
  const { status, body } = await owner.post(tokens, { name: 'sensor', permissions: ['write', 'write'] });
  expect(status).toBe(201);
  const { token, ...shown } = body;
  expect(token).toMatch(/^tk_[\w-]{43}$/);
  expect(shown).toEqual({
    id: expect.any(String),
    topic_id: topic.id,
    created_by: owner.id,
    name: 'sensor',
    permissions: ['write'],
    created_at: expect.any(String),
    expires_at: null,
    last_used_at: null,
  });
  const second = (await owner.post(tokens, { name: 'reader', permissions: ['read'], expires_at: '2999-01-01' })).body;
  expect((await owner.get(tokens)).body).toMatchObject([
    { id: second.id, expires_at: '2999-01-01T00:00:00.000Z' },
    shown,
  ]);
});

test('a token opens only its topic and only with its permissions', async () => {
  const { owner, topic, tokens } = await privateTopic();
  const other = await privateTopic();
  const token = async (permissions: string[]) =>
    (await owner.post(tokens, { name: 't', permissions })).body.token as string;
  const [reader, writer] = [byToken(await token(['read'])), byToken(await token(['write']))];
  expect(await reader.get(`/api/topics/${topic.name}`)).toMatchObject({
    status: 200,
    body: { id: topic.id, can_manage: false },
  });
  expect((await writer.publish(topic.name)).status).toBe(200);
  for (const refused of [
    await writer.get(`/api/topics/${topic.name}`),
    await reader.publish(topic.name),
    await reader.get(`/api/topics/${other.topic.name}`),
  ]) {
    expect(refused).toMatchObject({ status: 403, body: { detail: 'Insufficient permissions to access this topic' } });
  }
  for (const refused of [
    await reader.get(tokens),
    await reader.get('/api/keys'),
    await reader.post('/api/topics', { name: 'x' }),
  ]) {
    expect(refused).toMatchObject({ status: 403, body: { detail: 'A topic token opens only its topic' } });
  }
  for (const shown of (await owner.get(tokens)).body) expect(shown.last_used_at).toEqual(expect.any(String));
});

test('refuses a deleted token immediately', async () => {
  const { owner, topic, tokens } = await privateTopic();
  const { id, token } = (await owner.post(tokens, { name: 't', permissions: ['read', 'write'] })).body;
  expect((await byToken(token).get(`/api/topics/${topic.name}`)).status).toBe(200);
  expect((await owner.delete(`${tokens}/${id}`)).status).toBe(204);
  expect(await byToken(token).get(`/api/topics/${topic.name}`)).toMatchObject({
    status: 401,
    body: { detail: 'Could not validate credentials' },
  });
  expect(await owner.delete(`${tokens}/${id}`)).toMatchObject({
    status: 404,
    body: { detail: 'Access token not found' },
  });
});

test('reports an expired token', async () => {
  const { owner, topic, tokens } = await privateTopic();
  // The expiry must still be in the future when the request arrives, also on a busy machine.
  const { token } = (
    await owner.post(tokens, {
      name: 't',
      permissions: ['read'],
      expires_at: new Date(Date.now() + 5_000).toISOString(),
    })
  ).body;
  await eventually(async () => {
    expect(await byToken(token).get(`/api/topics/${topic.name}`)).toMatchObject({
      status: 401,
      body: { detail: 'Token has expired' },
    });
  });
});

test.each([
  [{ permissions: ['read'] }, 'name: is required'],
  [{ name: 't' }, 'permissions: is required'],
  [{ name: 't', permissions: [] }, 'permissions: must name at least one permission'],
  [{ name: 't', permissions: ['admin'] }, 'permissions.0: must be one of read, write'],
  [{ name: 'x'.repeat(81), permissions: ['read'] }, 'name: must be 1 to 80 characters'],
  [{ name: 't', permissions: ['read'], expires_at: '2020-01-01' }, 'expires_at: must be in the future'],
])('refuses a token with %j', async (fields, detail) => {
  const { owner, tokens } = await privateTopic();
  expect(await owner.post(tokens, fields)).toMatchObject({ status: 422, body: { detail } });
});

test('only managers of a topic list, create and delete its tokens', async () => {
  const { owner, tokens } = await privateTopic();
  const other = await stack.person();
  const { id } = (await owner.post(tokens, { name: 't', permissions: ['read'] })).body;
  for (const refused of [
    await other.get(tokens),
    await other.post(tokens, {}),
    await other.delete(`${tokens}/${id}`),
  ]) {
    expect(refused).toMatchObject({ status: 403, body: { detail: 'Insufficient permissions to access this topic' } });
  }
  expect((await stack.caller().get(tokens)).status).toBe(401);
  expect(await owner.get('/api/topics/no-such-topic/access-tokens')).toMatchObject({
    status: 404,
    body: { detail: 'Topic not found' },
  });
  expect(await owner.delete(`${tokens}/7`)).toMatchObject({
    status: 422,
    body: { detail: 'token_id: must be a UUID' },
  });
  const foreign = await privateTopic();
  expect(await foreign.owner.delete(`${foreign.tokens}/${id}`)).toMatchObject({
    status: 404,
    body: { detail: 'Access token not found' },
  });
});

test('a topic has at most 100 tokens', async () => {
  const { owner, tokens } = await privateTopic();
  const make = (count: number) =>
    Promise.all(Array.from({ length: count }, () => owner.post(tokens, { name: 't', permissions: ['read'] })));
  // Sequential up to the last places: concurrent creations wait for each other.
  for (let made = 0; made < 90; made += 1) await make(1);
  const last = await make(20);
  expect(last.filter((answer) => answer.status === 201).length).toBe(10);
  expect(last.find((answer) => answer.status !== 201)).toMatchObject({
    status: 403,
    body: { detail: 'Access token limit reached' },
  });
});

test('a renamed topic keeps its tokens, and a deleted topic deletes them', async () => {
  const { owner, topic, tokens } = await privateTopic();
  const { token } = (await owner.post(tokens, { name: 't', permissions: ['read'] })).body;
  const renamed = `${topic.name}-new`;
  expect((await owner.patch(`/api/topics/${topic.id}`, { name: renamed })).status).toBe(200);
  expect((await byToken(token).get(`/api/topics/${renamed}`)).status).toBe(200);
  await owner.delete(`/api/topics/${topic.id}`);
  expect((await byToken(token).get(`/api/topics/${renamed}`)).status).toBe(404);
  expect((await owner.post('/api/topics', { name: renamed, access_level: 'private' })).status).toBe(201);
  expect([401, 403]).toContain((await byToken(token).get(`/api/topics/${renamed}`)).status);
});
