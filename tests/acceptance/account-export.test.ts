import { expect, test } from '@jest/globals';
import { makeFullAccount } from '../support/full-account.ts';
import { Client, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const exportOf = (person: Person) => person.get('/api/users/me/data');
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

test('an export requires an account and the scope account:read', async () => {
  const { owner, topicToken } = await makeFullAccount(stack);
  const keyOf = async (...scopes: string[]) =>
    stack.caller({ 'X-API-Key': (await owner.post('/api/keys', { name: 'k', scopes })).body.key });
  const byKey = await (await keyOf('account:read')).get('/api/users/me/data');
  expect(byKey.status).toBe(200);
  // The export covers all data of the account: a key's restriction on private team topics does not apply.
  expect(byKey.body.messages).toHaveLength(3);
  expect(await (await keyOf('account:write', 'topics:read', 'subscribe')).get('/api/users/me/data')).toMatchObject({
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
