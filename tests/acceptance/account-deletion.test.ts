import { get, type IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { apiKeys } from '@tocsin/shared/collections/credentials.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { WebSocket } from 'ws';
import { makeFullAccount } from '../support/full-account.ts';
import { logIn, newRegistration, refresh, tryLogIn } from '../support/registration.ts';
import { Client, newAddress, newTopicName, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const remove = (person: Person, password = person.password) => person.delete('/api/users/me', { password });
const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };
/** Nodes are told over the bus at once, and know by age within five seconds. */
const onAllNodes = (check: (node: number) => Promise<void>) =>
  eventually(
    async () => {
      for (const node of [0, 1]) await check(node);
    },
    { timeoutMs: 5_500 },
  );

/** A stream that is open; `code` is what it closes with. */
async function openWebSocket(path: string, node: number): Promise<{ code: Promise<number> }> {
  const { urls } = testStack();
  const socket = new WebSocket(urls[node % urls.length]!.replace('http', 'ws') + path, {
    headers: { 'X-Forwarded-For': newAddress() },
  });
  const code = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise<void>((resolve, reject) => socket.once('error', reject).once('message', () => resolve()));
  return { code };
}

test('with the account go all its credentials, its topics and its teams, on all nodes within five seconds', async () => {
  const { owner, other, topic, teamTopic, otherTopic, teamId, otherTeamId, key, topicToken } =
    await makeFullAccount(stack);
  const login = await logIn(owner);
  expect(await remove(owner)).toMatchObject({ status: 204, body: undefined });

  await onAllNodes(async (node) => {
    for (const credential of [owner.client.token!, login.access, key])
      expect(await new Client(credential).call('GET', '/auth/me', { node })).toMatchObject(wrong);
    for (const { name } of [topic, teamTopic]) {
      expect(await new Client().call('GET', `/${name}/json`, { node })).toMatchObject({
        status: 404,
        body: { detail: 'Topic not found' },
      });
    }
    expect((await new Client(topicToken).call('GET', `/${otherTopic.name}/json`, { node })).status).not.toBe(200);
    expect((await new Client().call('GET', `/api/topics/${otherTopic.name}`, { node })).body.subscriber_count).toBe(0);
  });
  expect(await tryLogIn(owner)).toMatchObject(wrong);
  expect(await refresh(login.refresh)).toMatchObject(wrong);
  expect((await other.get('/api/subscriptions')).body).toEqual({ subscriptions: [], total: 0 });
  expect(await stack.documents().get(teams, teamId)).toBeNull();
  expect(await stack.documents().get(teams, otherTeamId)).not.toBeNull();
  expect(await stack.documents().count(teamMembers, { index: 'byUser', equals: { userId: owner.id } })).toBe(0);
});

test('address, username and topic names are free at once, and nothing comes back under them', async () => {
  const { owner, other, topic } = await makeFullAccount(stack);
  expect((await remove(owner)).status).toBe(204);
  const again = newRegistration({ email: owner.email, username: owner.user.username });
  expect((await new Client().call('POST', '/auth/register', { json: again })).status).toBe(201);
  const created = await other.post('/api/topics', { name: topic.name });
  expect(created).toMatchObject({ status: 201, body: { message_count: 0, last_message_at: null } });
  expect(created.body.id).not.toBe(topic.id);
  await onAllNodes(async (node) => {
    expect((await new Client().call('GET', `/${topic.name}/json?since=all`, { node })).body).toMatchObject({
      count: 0,
      messages: [],
    });
  });
  expect((await new Client().call('GET', `/api/topics/${topic.name}/log`)).body.records).toEqual([]);
});

test('the streams of its topics and its own end within five seconds', async () => {
  const { owner, other, topic, otherTopic } = await makeFullAccount(stack);
  const openOnAllNodes = (path: string) => Promise.all([0, 1].map((node) => openWebSocket(path, node)));
  const readers = await openOnAllNodes(`/${topic.name}/ws?token=${other.client.token}`);
  const own = await openOnAllNodes(`/${otherTopic.name}/ws?token=${owner.client.token}`);
  const sse = await new Promise<IncomingMessage>((resolve, reject) => {
    get(
      `${testStack().urls[0]}/${topic.name}/sse`,
      { agent: false, headers: { 'X-Forwarded-For': newAddress() } },
      resolve,
    ).on('error', reject);
  });
  const sseEnded = new Promise<void>((resolve) => sse.on('close', () => resolve()).resume());

  const removedAt = performance.now();
  expect((await remove(owner)).status).toBe(204);
  expect(await Promise.all(readers.map(({ code }) => code))).toEqual([4404, 4404]);
  expect(await Promise.all(own.map(({ code }) => code))).toEqual([4401, 4401]);
  await sseEnded;
  expect(performance.now() - removedAt).toBeLessThan(8_000); // five, with room for a loaded machine
});

test('the wrong password deletes nothing, and five of them are enough', async () => {
  const owner = await stack.person();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    expect(await remove(owner, 'not the password')).toMatchObject({
      status: 400,
      body: { detail: 'Current password is wrong' },
    });
  }
  expect(await remove(owner)).toMatchObject({ status: 429, body: { detail: 'Too many failed logins' } });
  expect((await owner.get('/auth/me')).status).toBe(200);
});

test('a login is needed, and its password', async () => {
  const { owner, key, topicToken } = await makeFullAccount(stack);
  const json = { password: owner.password };
  expect(await new Client().call('DELETE', '/api/users/me', { json })).toMatchObject({
    status: 401,
    body: { detail: 'Not authenticated' },
  });
  expect(await new Client(key).call('DELETE', '/api/users/me', { json })).toMatchObject({
    status: 403,
    body: { detail: 'Requires a login' },
  });
  expect(await new Client(topicToken).call('DELETE', '/api/users/me', { json })).toMatchObject({
    status: 403,
    body: { detail: 'A topic token opens only its topic' },
  });
  expect(await owner.delete('/api/users/me', {})).toMatchObject({
    status: 422,
    body: { detail: 'password: is required' },
  });
  expect(await owner.delete('/api/users/me', { password: 1 })).toMatchObject({
    status: 422,
    body: { detail: 'password: must be a string' },
  });
  expect((await owner.get('/auth/me')).status).toBe(200);
});

test('an account without a password cannot delete itself, whatever it sends', async () => {
  const owner = await stack.person();
  const user = (await stack.documents().get(users, owner.id))!;
  await stack.documents().update(users, user, { passwordHash: null });
  for (const json of [{ password: owner.password }, {}]) {
    expect(await owner.delete('/api/users/me', json)).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/^This account has no password/) },
    });
  }
});

test('an account with a topic under legal hold is not deleted', async () => {
  const { owner, topic } = await makeFullAccount(stack);
  const documents = stack.documents();
  // The server counts in the topic at the same time.
  const hold = (isHeld: boolean) =>
    retryStale(async () => documents.update(topics, (await documents.get(topics, topic.id))!, { isHeld }));
  await hold(true);
  expect(await remove(owner)).toMatchObject({ status: 409, body: { detail: 'Topic is under legal hold' } });
  expect((await owner.get(`/api/topics/${topic.name}`)).status).toBe(200);
  await hold(false);
  expect((await remove(owner)).status).toBe(204);
});

test('of several deletions at once one is done', async () => {
  const owner = await stack.person();
  const answers = await Promise.all([1, 2, 3].map(() => remove(owner)));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses[0]).toBe(204);
  expect(statuses.slice(1).every((status) => status === 401)).toBe(true);
});

test('what is made while the account is deleted is not left behind', async () => {
  const [owner, other] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const otherTopic = (await other.post('/api/topics', { name: newTopicName() })).body;
  const making = Array.from({ length: 12 }, (_, at) => [
    owner.post('/api/topics', { name: newTopicName() }),
    owner.post('/api/keys', { name: 'k' }),
    owner.post('/api/devices/register', { platform: 'ios', push_token: newTopicName(), device_id: `d${at}` }),
    owner.post('/api/subscriptions', { topic_name: otherTopic.name }),
    logIn(owner).catch(() => undefined),
  ]).flat();
  expect((await remove(owner)).status).toBe(204);
  await Promise.all(making);
  const { id } = owner;
  const documents = stack.documents();
  await eventually(async () =>
    expect([
      await documents.count(topics, { index: 'byOwner', equals: { ownerId: id } }),
      await documents.count(apiKeys, { index: 'byUser', equals: { userId: id } }),
      await documents.count(devices, { index: 'byUser', equals: { userId: id } }),
      await documents.count(subscriptions, { index: 'byUser', equals: { userId: id } }),
    ]).toEqual([0, 0, 0, 0]),
  );
  expect((await other.get(`/api/topics/${otherTopic.name}`)).body.subscriber_count).toBe(0);
});
