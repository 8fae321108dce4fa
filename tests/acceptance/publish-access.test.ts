import { expect, test } from '@jest/globals';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const noAccess = { status: 403, body: { detail: 'Insufficient permissions to access this topic' } };

test('a publish never creates a topic', async () => {
  const name = newTopicName();
  expect(await stack.caller().publish(name)).toMatchObject({ status: 404, body: { detail: 'Topic not found' } });
  expect(await (await stack.person()).publish(name)).toMatchObject({ status: 404 });
});

test.each(['api', 'auth', 'health', 'assets', 'v1', 'no such topic', 'a%2Fb', '%00', '..%2f', 'x'.repeat(65)])(
  'returns 404 for /%s',
  async (name) => {
    expect(await stack.caller().publish(name)).toMatchObject({ status: 404, body: { detail: 'Topic not found' } });
  },
);

test('finds a topic case-insensitively and shows its original spelling', async () => {
  const topic = await createTopic(await stack.person());
  expect(await stack.caller().publish(topic.name.toUpperCase())).toMatchObject({
    status: 200,
    body: { topic: topic.name },
  });
});

test('anyone may publish to a public topic', async () => {
  const topic = await createTopic(await stack.person());
  expect((await stack.caller().publish(topic.name)).status).toBe(200);
  expect((await (await stack.person()).publish(topic.name)).status).toBe(200);
});

test('a private topic accepts publishes of its owner and of tokens with write permission', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner, { access_level: 'private' });
  expect(await stack.caller().publish(topic.name)).toMatchObject({
    status: 401,
    body: { detail: 'Not authenticated' },
  });
  expect(await (await stack.person()).publish(topic.name)).toMatchObject(noAccess);
  expect((await owner.publish(topic.name)).status).toBe(200);

  const tokens = `/api/topics/${topic.name}/access-tokens`;
  const writing = (await owner.post(tokens, { name: 'w', permissions: ['write'] })).body.token as string;
  const reading = (await owner.post(tokens, { name: 'r', permissions: ['read'] })).body.token as string;
  expect((await stack.caller({ 'X-Topic-Token': writing }).publish(topic.name)).status).toBe(200);
  expect(await stack.caller({ 'X-Topic-Token': reading }).publish(topic.name)).toMatchObject(noAccess);
});

test('a topic token opens only its topic, also among public topics', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const other = await createTopic(owner);
  const { token } = (
    await owner.post(`/api/topics/${topic.name}/access-tokens`, { name: 't', permissions: ['read', 'write'] })
  ).body;
  const caller = stack.caller({ 'X-Topic-Token': token });
  expect((await caller.publish(topic.name)).status).toBe(200);
  expect(await caller.publish(other.name)).toMatchObject(noAccess);
  expect(await caller.publish(newTopicName())).toMatchObject({ status: 404 });
});

test("an API key with the scope publishes to its user's topics and to public topics", async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const member = await stack.person();
  const teamId = await stack.team(owner, [[member, 'member']]);
  const topic = await createTopic(owner, { access_level: 'private' });
  const teamTopic = await createTopic(owner, { access_level: 'private', team_id: teamId });
  const publicTopic = await createTopic(member);
  const keyOf = async (person: typeof owner, scopes: string[]) =>
    stack.caller({ 'X-API-Key': (await person.post('/api/keys', { name: 'k', scopes })).body.key as string });
  const publishing = await keyOf(owner, ['publish']);
  for (const { name } of [topic, teamTopic, publicTopic]) expect((await publishing.publish(name)).status).toBe(200);
  const reading = await keyOf(owner, ['subscribe', 'topics:read']);
  for (const { name } of [topic, publicTopic])
    expect(await reading.publish(name)).toMatchObject({ status: 403, body: { detail: 'Missing scope: publish' } });
  expect((await member.publish(teamTopic.name)).status).toBe(200);
  expect(await (await keyOf(member, ['*'])).publish(teamTopic.name)).toMatchObject(noAccess);
});

test('after a tier lapse the newest private topics beyond the limit become read-only', async () => {
  const owner = await stack.person({ tier: 'ESSENTIALS', tierExpiresAt: Date.now() + 3_600_000 });
  const first = await createTopic(owner, { access_level: 'private' });
  const second = await createTopic(owner, { access_level: 'private' });
  expect((await owner.publish(second.name)).status).toBe(200);
  const operator = stack.operator();
  expect((await operator.put(`/admin/users/${owner.email}/tier`, { tier: 'FREE' })).status).toBe(200);
  expect((await owner.publish(first.name)).status).toBe(200);
  expect(await owner.publish(second.name)).toMatchObject({
    status: 403,
    body: { detail: 'Private topic limit reached' },
  });
  expect((await owner.get(`/${second.name}/json`)).status).toBe(200);
});

test("retention follows the tier of the topic's owner, not of the publisher", async () => {
  const lifetimeDays = async (tier: 'FREE' | 'ESSENTIALS' | 'TEAM') => {
    const topic = await createTopic(await stack.person({ tier }));
    const { body } = await (await stack.person({ tier: 'TEAM' })).publish(topic.name);
    return (Date.parse(body.expires_at) - Date.parse(body.timestamp)) / 86_400_000;
  };
  expect([await lifetimeDays('FREE'), await lifetimeDays('ESSENTIALS'), await lifetimeDays('TEAM')]).toEqual([
    7, 30, 90,
  ]);
});

test('X-Topic-Token does not accept an API key', async () => {
  const owner = await stack.person();
  const topic = await createTopic(owner);
  const made = await owner.client.call('POST', '/api/keys', { json: { name: 'k' } });
  const answer = await stack.caller({ 'X-Topic-Token': made.body.key as string }).publish(topic.name);
  expect([answer.status, answer.body]).toEqual([401, { detail: 'Could not validate credentials' }]);
});
