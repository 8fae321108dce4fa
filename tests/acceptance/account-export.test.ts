import { expect, test } from '@jest/globals';
import { makeFullAccount } from '../support/full-account.ts';
import { Client, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const exportOf = (person: Person) => person.get('/api/users/me/data');
const keyOf = async (owner: Person, ...scopes: string[]) =>
  stack.caller({ 'X-API-Key': (await owner.post('/api/keys', { name: 'k', scopes })).body.key });
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id).sort();

test('an export contains no secrets and no data of other accounts', async () => {
  const { owner, other, otherTopic, key, topicToken } = await makeFullAccount(stack);
  const text = JSON.stringify((await exportOf(owner)).body);
  for (const secret of [key, topicToken, owner.client.token!, owner.password, 'to somebody else', other.email])
    expect(text).not.toContain(secret);
  expect(idsOf((await exportOf(owner)).body.topics)).not.toContain(otherTopic.id);
});

test('an export omits deleted messages, has edited messages in their current form, and preserves any text', async () => {
  const owner = await stack.person({ tier: 'ESSENTIALS' });
  const topic = (await owner.post('/api/topics', { name: newTopicName() })).body;
  const odd = '"quotes", \\ and 🔔 \u2028 \n# markdown\t';
  const [kept, edited, deleted] = [
    await owner.publish(topic.name, odd),
    await owner.publish(topic.name, 'before'),
    await owner.publish(topic.name, 'away'),
  ];
  expect((await owner.patch(`/api/${topic.name}/messages/${edited.body.id}`, { message: 'after' })).status).toBe(200);
  expect((await owner.delete(`/api/${topic.name}/messages/${deleted.body.id}`)).status).toBe(200);
  const { messages, statistics } = (await exportOf(owner)).body;
  expect(messages).toMatchObject([
    { id: kept.body.id, message: odd },
    { id: edited.body.id, message: 'after', is_edited: true },
  ]);
  expect(statistics.total_messages).toBe(2);
});

test('each part of an export needs its own read scope, and the export lists what it omits', async () => {
  const { owner, topic, texts } = await makeFullAccount(stack);
  const readBy = async (...scopes: string[]) => (await (await keyOf(owner, ...scopes)).get('/api/users/me/data')).body;
  const least = await readBy('account:read');
  expect(least.export_metadata).toMatchObject({
    data_categories: ['account', 'devices', 'subscriptions', 'consents', 'teams'],
    omitted: [
      { category: 'topics', missing_scopes: ['topics:read'] },
      { category: 'messages', missing_scopes: ['subscribe'] },
      { category: 'scheduled_messages', missing_scopes: ['subscribe'] },
      { category: 'api_keys', missing_scopes: ['keys:read'] },
      { category: 'topic_access_tokens', missing_scopes: ['topics:read'] },
      { category: 'sinks', missing_scopes: ['topics:read'] },
      { category: 'audit_log', missing_scopes: ['keys:read', 'topics:read'] },
    ],
  });
  for (const empty of [
    'topics',
    'messages',
    'scheduled_messages',
    'api_keys',
    'topic_access_tokens',
    'sinks',
    'audit_log',
  ])
    expect(least[empty]).toEqual([]);
  for (const text of texts) expect(JSON.stringify(least)).not.toContain(text);
  expect(least.devices).toHaveLength(1);
  // Messages of private team topics are included: the export covers all data of the account.
  expect((await readBy('account:read', 'subscribe')).messages).toHaveLength(3);
  expect((await readBy('account:read', 'topics:read')).topics).toContainEqual(
    expect.objectContaining({ id: topic.id }),
  );
  const whole = await readBy('account:read', 'subscribe', 'topics:read', 'keys:read');
  expect(whole.export_metadata.omitted).toBeUndefined();
  expect(whole.api_keys).not.toEqual([]);
});

test('an export requires an account and the scope account:read', async () => {
  const { owner, topicToken } = await makeFullAccount(stack);
  const key = await keyOf(owner, 'account:write', 'topics:read', 'subscribe', 'keys:read');
  expect(await key.get('/api/users/me/data')).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: account:read' },
  });
  expect(await new Client().call('GET', '/api/users/me/data')).toMatchObject({
    status: 401,
    body: { detail: 'Not authenticated' },
  });
  expect(await new Client(topicToken).call('GET', '/api/users/me/data')).toMatchObject({
    status: 403,
    body: { detail: 'A topic token opens only its topic' },
  });
});

test('HEAD returns the headers of the file without creating it', async () => {
  const owner = await stack.person();
  const { status, headers, body } = await owner.client.call('HEAD', '/api/users/me/data');
  expect([status, headers.get('content-disposition'), body]).toEqual([
    200,
    `attachment; filename="tocsin-export-${owner.id}.json"`,
    undefined,
  ]);
});
