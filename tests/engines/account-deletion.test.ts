import { expect, test } from '@jest/globals';
import { apiKeys } from '@tocsin/shared/collections/credentials.ts';
import { devices } from '@tocsin/shared/collections/devices-collection.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { makeFullAccount } from '../support/full-account.ts';
import { logIn, refresh, tryLogIn } from '../support/registration.ts';
import { Client, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const remove = (person: Person, password = person.password) => person.delete('/api/users/me', { password });
const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };
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

test("deletes the account's credentials, topics and teams on all nodes within five seconds", async () => {
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
  expect(await store.documents().get(teams, teamId)).toBeNull();
  expect(await store.documents().get(teams, otherTeamId)).not.toBeNull();
  expect(await store.documents().count(teamMembers, { index: 'byUser', equals: { userId: owner.id } })).toBe(0);
});

test('refuses deletion of an account without password, with any body', async () => {
  const owner = await stack.person();
  const user = (await store.documents().get(users, owner.id))!;
  await store.documents().update(users, user, { passwordHash: null });
  for (const json of [{ password: owner.password }, {}]) {
    expect(await owner.delete('/api/users/me', json)).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/^This account has no password/) },
    });
  }
});

test('refuses deletion of an account with a topic under legal hold', async () => {
  const { owner, topic } = await makeFullAccount(stack);
  const documents = store.documents();
  // The server updates the topic's counters at the same time.
  const hold = (isHeld: boolean) =>
    retryStale(async () => documents.update(topics, (await documents.get(topics, topic.id))!, { isHeld }));
  await hold(true);
  expect(await remove(owner)).toMatchObject({ status: 409, body: { detail: 'Topic is under legal hold' } });
  expect((await owner.get(`/api/topics/${topic.name}`)).status).toBe(200);
  await hold(false);
  expect((await remove(owner)).status).toBe(204);
});

test('leaves nothing behind that is created during the deletion', async () => {
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
  const documents = store.documents();
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
