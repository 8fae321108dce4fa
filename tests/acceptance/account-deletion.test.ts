import { get, type IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { WebSocket } from 'ws';
import { makeFullAccount } from '../support/full-account.ts';
import { newRegistration } from '../support/registration.ts';
import { Client, newAddress, testStack } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const remove = (person: Person, password = person.password) => person.delete('/api/users/me', { password });
/**
 * The deletion invalidates caches on all nodes immediately; without the notification they expire within five seconds.
 */
const onAllNodes = (check: (node: number) => Promise<void>) =>
  eventually(
    async () => {
      for (const node of [0, 1]) await check(node);
    },
    { timeoutMs: 5_500 },
  );

/** An open stream; `code` is its close code. */
async function openWebSocket(path: string, node: number): Promise<{ code: Promise<number> }> {
  const { urls } = testStack();
  const socket = new WebSocket(urls[node % urls.length]!.replace('http', 'ws') + path, {
    headers: { 'X-Forwarded-For': newAddress() },
  });
  const code = new Promise<number>((resolve) => socket.once('close', resolve));
  await new Promise<void>((resolve, reject) => socket.once('error', reject).once('message', () => resolve()));
  return { code };
}

test('email, username and topic names become available immediately, and new owners see no old data', async () => {
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

test("ends the account's streams and those of its topics within five seconds", async () => {
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
  expect(performance.now() - removedAt).toBeLessThan(8_000); // five seconds, plus a margin for a loaded machine
});

test('a wrong password deletes nothing and counts as a failed login, of which five are allowed', async () => {
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

test('deletion requires a login and its password', async () => {
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

test('concurrent deletions succeed once', async () => {
  const owner = await stack.person();
  const answers = await Promise.all([1, 2, 3].map(() => remove(owner)));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses[0]).toBe(204);
  expect(statuses.slice(1).every((status) => status === 401)).toBe(true);
});
