import { expect, test } from '@jest/globals';
import { mailedLink } from '../support/mailbox.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStreams } from '../support/use-streams.ts';
import { watchStreams } from '../support/watch-streams.ts';

const stack = useStack();
const streams = useStreams();
const badCredential = { status: 401, body: { detail: 'Could not validate credentials' } };
const expired = { status: 401, body: { detail: 'Token has expired' } };

/** An owner with a private topic and a function that opens its streams. */
async function owned() {
  const owner = await stack.person({ tier: 'ESSENTIALS' });
  const [topic, other] = [await createTopic(owner, { access_level: 'private' }), await createTopic(owner)];
  return {
    owner,
    topic,
    watch: (by: { query?: string; token?: string }) =>
      watchStreams(streams, { topic: topic.name, otherTopics: by.query?.includes('tk_') ? [] : [other.name], ...by }),
  };
}

/** Long enough for all kinds of streams to open first, also on a busy machine. */
const lifetimeSeconds = 10;
const soon = () => new Date(Date.now() + lifetimeSeconds * 1_000).toISOString();
const until = async (time: string) => new Promise((resolve) => setTimeout(resolve, Date.parse(time) - Date.now()));

test('a revoked topic token ends its streams', async () => {
  const { owner, topic, watch } = await owned();
  const tokens = `/api/topics/${topic.name}/access-tokens`;
  const [one, other] = [
    (await owner.post(tokens, { name: 't', permissions: ['read'] })).body,
    (await owner.post(tokens, { name: 't', permissions: ['read'] })).body,
  ];
  const [lost, kept] = [await watch({ query: `token=${one.token}` }), await watch({ query: `token=${other.token}` })];
  await lost.expectEnd(4401, () => owner.delete(`${tokens}/${one.id}`));
  await kept.expectOpen((text) => owner.publish(topic.name, text));
  expect(await streams.ws(`/${topic.name}/ws?token=${one.token}`)).toMatchObject(badCredential);
});

test('an expired topic token ends its streams', async () => {
  const { owner, topic, watch } = await owned();
  const expires_at = soon();
  const { token } = (
    await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read'], expires_at })
  ).body;
  const lost = await watch({ query: `token=${token}` });
  await lost.expectEnd(4401, () => until(expires_at));
  expect(await streams.sse(`/${topic.name}/sse?token=${token}`)).toMatchObject(expired);
});

test.each([
  ['a revoked API key', (owner: Person, id: string) => owner.post(`/api/keys/${id}/revoke`)],
  ['a deleted API key', (owner: Person, id: string) => owner.delete(`/api/keys/${id}`)],
])('%s', async (_case, end) => {
  const { owner, topic, watch } = await owned();
  const [one, other] = [
    (await owner.post('/api/keys', { name: 'k' })).body,
    (await owner.post('/api/keys', { name: 'k', scopes: ['subscribe'] })).body,
  ];
  const [lost, kept] = [await watch({ query: `api_key=${one.key}` }), await watch({ query: `token=${other.key}` })];
  await lost.expectEnd(4401, () => end(owner, one.id));
  await kept.expectOpen((text) => owner.publish(topic.name, text));
});

test('an expired API key ends its streams', async () => {
  const { owner, topic, watch } = await owned();
  const expires_at = soon();
  const { key } = (await owner.post('/api/keys', { name: 'k', expires_at })).body;
  const lost = await watch({ query: `api_key=${key}` });
  await lost.expectEnd(4401, () => until(expires_at));
  expect(await streams.sse(`/${topic.name}/sse?api_key=${key}`)).toMatchObject(expired);
});

test('a password reset ends the streams of all logins, including sessions', async () => {
  const { owner, topic, watch } = await owned();
  const session = (await owner.post('/api/sse/sessions', { topics: [topic.name] })).body.session_id as string;
  const [byLogin, bySession] = [
    await watch({ query: `token=${owner.client.token}` }),
    await streams.ws(`/ws?session=${session}`),
  ];
  await owner.post('/auth/password-reset/request', { email: owner.email });
  const token = (await mailedLink(owner.email, 'password-reset')).hash.slice('#token='.length);
  await byLogin.expectEnd(4401, () =>
    stack.caller().post('/auth/password-reset/confirm', { token, new_password: `${owner.password}!` }),
  );
  expect((await bySession.ended).code).toBe(4401);
});

test('a password change ends the streams of all logins, and those of keys continue', async () => {
  const { owner, topic, watch } = await owned();
  const { key } = (await owner.post('/api/keys', { name: 'k' })).body;
  const byKey = await watch({ query: `api_key=${key}` });
  const byLogin = await watch({ query: `token=${owner.client.token}` });
  await byLogin.expectEnd(4401, () =>
    owner.post('/auth/password-change', { current_password: owner.password, new_password: `${owner.password}!` }),
  );
  await byKey.expectOpen((text) => stack.caller({ 'X-API-Key': key }).publish(topic.name, text));
});

test("using a refresh token twice ends the login's streams", async () => {
  const { owner, topic } = await owned();
  const login = (await stack.caller().post('/auth/login', { email: owner.email, password: owner.password })).body;
  const lost = await watchStreams(streams, { topic: topic.name, query: `token=${login.access_token}` });
  const kept = await watchStreams(streams, { topic: topic.name, token: owner.client.token });
  const refresh = () => stack.caller().post('/auth/refresh', { refresh_token: login.refresh_token });
  expect((await refresh()).status).toBe(200);
  await lost.expectEnd(4401, refresh);
  await kept.expectOpen((text) => owner.publish(topic.name, text));
});

test('deleting an account ends its streams with 4401 and those of its topics with 4404', async () => {
  const { owner, topic, watch } = await owned();
  const open = await createTopic(owner);
  const reader = await stack.person();
  const session = (await owner.post('/api/sse/sessions', { topics: [topic.name] })).body.session_id as string;
  const [own, others, bySession] = [
    await watch({ token: owner.client.token! }),
    await watchStreams(streams, { topic: open.name, token: reader.client.token }),
    await streams.ws(`/ws?session=${session}`),
  ];
  await Promise.all([
    own.expectEnd(4401, () => owner.delete('/api/users/me', { password: owner.password })),
    others.expectEnd(4404, () => Promise.resolve()),
  ]);
  expect((await bySession.ended).code).toBe(4401);
});
