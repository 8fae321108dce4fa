import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, newAddress, newTopicName } from '../support/stack.ts';
import { useStack, type Caller } from '../support/use-stack.ts';
import { transports, useStreams } from '../support/use-streams.ts';

const stack = useStack();
const streams = useStreams();
const nil = '00000000-0000-0000-0000-000000000000';
const path = '/api/sse/sessions';
const badCredential = { status: 401, body: { detail: 'Could not validate credentials' } };

async function make(caller: Caller, body: object): Promise<string> {
  const made = await caller.post(path, body);
  expect(made.status).toBe(200);
  return made.body.session_id as string;
}

test('a session lists its topics once each by their current names and lives for 300 seconds', async () => {
  const owner = await stack.person();
  const [open, secret] = [await createTopic(owner), await createTopic(owner, { access_level: 'private' })];
  const made = await owner.post(path, { topics: [secret.name, open.name.toUpperCase(), secret.name], since_id: null });
  expect(made).toMatchObject({
    status: 200,
    body: { session_id: expect.any(String), topics: [secret.name, open.name], expires_in: 300 },
  });
  expect(Object.keys(made.body).sort()).toEqual(['expires_in', 'session_id', 'topics']);
});

test.each(transports)(
  'a session opens streams over %s on every node repeatedly without a credential',
  async (transport) => {
    const owner = await stack.person();
    const topics = [(await createTopic(owner, { access_level: 'private' })).name, (await createTopic(owner)).name];
    const session = await make(owner, { topics });
    const open = async (node: number) => streams.open(transport, { query: `?session=${session}` }, { node });
    const all = [await open(0), await open(1), await open(1)];
    for (const stream of all) expect(await stream.ready()).toEqual({ topics, connection_id: expect.any(String) });
    await owner.publish(topics[0]!, 'to all');
    for (const stream of all) expect(await stream.texts(1)).toEqual(['to all']);
  },
);

test('a session starts at its position unless the stream gives its own', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [a, b] = [(await createTopic(owner)).name, (await createTopic(owner)).name];
  const ids: Record<string, string[]> = { [a]: [], [b]: [] };
  for (const topic of [a, b])
    for (const text of ['1', '2']) ids[topic]!.push((await owner.publish(topic, `${topic} ${text}`)).body.id);
  const session = await make(owner, { topics: [a, b], since_id: { [a.toUpperCase()]: ids[a]![0], [b]: nil } });
  const texts = async (query: string, count: number, headers = {}) => {
    const stream = await streams.sse(`/sse?session=${session}${query}`, { headers });
    expect((await stream.ready()).recovered).toBe(true);
    const came = await stream.texts(count);
    stream.close();
    return came.sort();
  };
  expect(await texts('', 3)).toEqual([`${a} 2`, `${b} 1`, `${b} 2`].sort());
  expect(await texts(`&since_id=${b}:${ids[b]![0]}`, 1)).toEqual([`${b} 2`]);
  expect(await texts(`&since_id=${b}:${ids[b]![0]}`, 2, { 'Last-Event-ID': `${a}:${nil}` })).toEqual([
    `${a} 1`,
    `${a} 2`,
  ]);
});

test("an unknown name in since_id makes the session's streams not recovered", async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  const session = await make(owner, { topics: [name], since_id: { [name]: nil, [newTopicName()]: nil } });
  expect((await (await streams.sse(`/sse?session=${session}`)).ready()).recovered).toBe(false);
  const live = await make(owner, { topics: [name], since_id: {} });
  expect(await (await streams.sse(`/sse?session=${live}`)).ready()).not.toHaveProperty('recovered');
});

test('a session takes precedence over topics', async () => {
  const owner = await stack.person();
  const [own, other] = [(await createTopic(owner)).name, (await createTopic(owner)).name];
  const session = await make(owner, { topics: [own] });
  expect((await (await streams.sse(`/sse?topics=${other}&session=${session}`)).ready()).topics).toEqual([own]);
  expect((await (await streams.ws(`/ws?topics=${newTopicName()}&session=${session}`)).ready()).topics).toEqual([own]);
});

test('checks the credential of a session at each connect', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  const { key, id } = (await owner.post('/api/keys', { name: 'k', scopes: ['subscribe'] })).body;
  const byKey = await make(stack.caller({ 'X-API-Key': key }), { topics: [name] });
  const byLogin = await make(owner, { topics: [name] });
  await owner.post(`/api/keys/${id}/revoke`);
  await eventually(async () =>
    expect(await streams.sse(`/sse?session=${byKey}`, { node: 1 })).toMatchObject(badCredential),
  );
  await owner.post(`/api/keys/${id}/enable`);
  await eventually(async () => expect((await streams.sse(`/sse?session=${byKey}`, { node: 1 })).body).toBeUndefined());
  await owner.delete(`/api/keys/${id}`);
  expect(await streams.sse(`/sse?session=${byKey}`)).toMatchObject(badCredential);
  expect((await streams.sse(`/sse?session=${byLogin}`)).body).toBeUndefined();
  await owner.post('/auth/password-change', { current_password: owner.password, new_password: `${owner.password}!` });
  expect(await streams.sse(`/sse?session=${byLogin}`)).toMatchObject(badCredential);
});

test('checks the topics of a session at each connect', async () => {
  const [owner, reader] = [await stack.person(), await stack.person()];
  const [closed, gone] = [await createTopic(owner), await createTopic(owner)];
  const ofClosed = await make(reader, { topics: [closed.name] });
  const ofGone = await make(reader, { topics: [closed.name, gone.name] });
  await owner.patch(`/api/topics/${closed.id}`, { access_level: 'private' });
  expect(await streams.sse(`/sse?session=${ofClosed}`)).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions to access this topic' },
  });
  await owner.delete(`/api/topics/${gone.id}`);
  expect(await streams.sse(`/sse?session=${ofGone}`)).toMatchObject({
    status: 404,
    body: { detail: 'Topic not found' },
  });
});

test('streams of a session do not count for their address', async () => {
  const owner = await stack.person();
  const session = await make(owner, { topics: [(await createTopic(owner)).name] });
  const address = newAddress();
  for (let opened = 0; opened < 65; opened += 1) (await streams.sse(`/sse?session=${session}`, { address })).close();
  const anonymous = stack.caller({ 'X-Forwarded-For': address });
  expect((await anonymous.get('/api/topics/public')).headers.get('x-ratelimit-remaining')).toBe('59');
});

test('checks a credential that is sent along with a session', async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  const secret = (await createTopic(owner, { access_level: 'private' })).name;
  const session = await make(owner, { topics: [secret] });
  expect((await streams.sse(`/sse?session=${session}`, { token: other.client.token })).body).toBeUndefined();
  expect(await streams.sse(`/sse?session=${session}&token=tk_nonsense`)).toMatchObject(badCredential);
});

test('creating a session requires an account', async () => {
  const owner = await stack.person();
  const { name } = await createTopic(owner);
  const body = { topics: [name] };
  expect(await stack.caller().post(path, body)).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
  const { token } = (await owner.post(`/api/topics/${name}/access-tokens`, { name: 't', permissions: ['read'] })).body;
  expect(await stack.caller({ 'X-Topic-Token': token }).post(path, body)).toMatchObject({
    status: 403,
    body: { detail: 'A topic token opens only its topic' },
  });
  const { key } = (await owner.post('/api/keys', { name: 'k', scopes: ['publish', 'account:read'] })).body;
  expect(await stack.caller({ 'X-API-Key': key }).post(path, body)).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: subscribe' },
  });
});

test('refuses a session with an unknown or inaccessible topic', async () => {
  const [owner, other] = [await stack.person(), await stack.person()];
  const [open, secret] = [
    (await createTopic(owner)).name,
    (await createTopic(owner, { access_level: 'private' })).name,
  ];
  expect(await other.post(path, { topics: [secret, newTopicName()] })).toMatchObject({
    status: 404,
    body: { detail: 'Topic not found' },
  });
  expect(await other.post(path, { topics: [open, secret] })).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions to access this topic' },
  });
});

test.each([
  [{}, 'topics: is required'],
  [{ topics: 'a,b' }, 'topics: must be an array'],
  [{ topics: [] }, 'topics: must name 1 to 100 topics'],
  [{ topics: [7] }, 'topics.0: must be a string'],
  [{ topics: Array.from({ length: 101 }, (_, at) => `t${at}`) }, 'topics: must name 1 to 100 topics'],
  [{ topics: ['a'], since_id: { a: 'x' } }, 'since_id.a: must be the id of a message'],
  [
    { topics: ['a'], since_id: { a: '0b0e0c80-47a1-4d1c-8d43-0a4d8d5b2f7e' } },
    'since_id.a: must be the id of a message',
  ],
  [{ topics: ['a'], since_id: 'a:b' }, 'since_id: must be an object'],
])('refuses a session with %j', async (body, detail) => {
  expect(await (await stack.person()).post(path, body)).toMatchObject({ status: 422, body: { detail } });
});

test('accepts a session of 100 topics with duplicates', async () => {
  const owner = await stack.person();
  const others = await Promise.all(Array.from({ length: 10 }, () => stack.person()));
  const names = (
    await Promise.all(
      others.map(async (other) => {
        const made: string[] = [];
        while (made.length < 10) made.push((await createTopic(other)).name);
        return made;
      }),
    )
  ).flat();
  const made = await owner.post(path, { topics: [...names, ...names.map((name) => name.toUpperCase())] });
  expect(made).toMatchObject({ status: 200, body: { topics: names } });
  const stream = await streams.sse(`/sse?session=${made.body.session_id}`);
  await stream.ready();
  await owner.publish(names[99]!, 'found');
  expect(await stream.texts(1)).toEqual(['found']);
  expect(stream.ofType('message')[0]!.id!.split(',').length).toBe(100);
});
