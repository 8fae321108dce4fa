import { expect, test } from '@jest/globals';
import { makeFullAccount } from '../support/full-account.ts';
import { Client, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const exportOf = (person: Person) => person.get('/api/users/me/data');
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id).sort();

test('an export is a file with everything of the account, each item as its list shows it', async () => {
  const { owner, topic, teamTopic, texts } = await makeFullAccount(stack);
  const answer = await exportOf(owner);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="tocsin-export-${owner.id}.json"`);
  expect(answer.headers.get('cache-control')).toBe('no-store');

  const { export_metadata: metadata, account, statistics, ...arrays } = answer.body;
  const names = [
    'topics',
    'messages',
    'devices',
    'api_keys',
    'topic_access_tokens',
    'subscriptions',
    'consents',
    'teams',
    'audit_log',
  ];
  expect(Object.keys(arrays)).toEqual(names);
  expect(metadata).toEqual({
    exported_at: expect.stringMatching(/Z$/),
    user_id: owner.id,
    data_categories: ['account', ...names],
  });
  expect(account).toEqual({
    user_id: owner.id,
    email: owner.email,
    username: owner.user.username,
    avatar_url: null,
    subscription_tier: 'TEAM',
    subscription_expires_at: null,
    is_verified: true,
    created_at: expect.any(String),
    last_login: expect.any(String),
    oauth_provider: null,
    terms_accepted_at: expect.any(String),
  });
  expect(statistics).toEqual({
    total_topics: 2,
    total_messages: 3,
    total_devices: 1,
    total_subscriptions: 2,
    total_api_keys: 1,
    account_age_days: 0,
  });

  expect(idsOf(arrays.topics)).toEqual(idsOf([topic, teamTopic]));
  expect(idsOf(arrays.topics)).toEqual(idsOf((await owner.get('/api/topics/my')).body));
  expect(arrays.topics[0]).toEqual(
    (await owner.get('/api/topics/my')).body.find(({ id }: { id: string }) => id === arrays.topics[0].id),
  );
  const history = await Promise.all(
    [topic, teamTopic].map(async ({ name }) => (await owner.get(`/${name}/json?since=all`)).body.messages),
  );
  expect(arrays.messages).toEqual(history.flat());
  expect(arrays.messages.map(({ message }: { message: string }) => message)).toEqual(texts);
  expect(arrays.devices).toEqual((await owner.get('/api/devices/my')).body);
  expect(arrays.api_keys).toMatchObject([{ name: 'ci', scopes: ['*'] }]);
  expect(arrays.topic_access_tokens).toEqual((await owner.get(`/api/topics/${topic.name}/access-tokens`)).body);
  expect(arrays.subscriptions).toEqual((await owner.get('/api/subscriptions')).body.subscriptions);
  expect(arrays.consents).toEqual((await owner.get('/auth/consent-history')).body.consents);
  expect(arrays.teams).toEqual((await owner.get('/api/teams')).body);
  expect(arrays.teams).toHaveLength(2);
  expect(arrays.audit_log.map(({ action }: { action: string }) => action)).toEqual([
    'topic_token.created',
    'api_key.created',
    'login.succeeded',
  ]);
  expect(arrays.audit_log[1]).toMatchObject({
    actor: { type: 'account', id: owner.id },
    origin: { address: owner.client.address },
    subject: { name: 'ci' },
  });
});

test('an export holds no secret, and nothing of others', async () => {
  const { owner, other, otherTopic, key, topicToken } = await makeFullAccount(stack);
  const text = JSON.stringify((await exportOf(owner)).body);
  for (const secret of [key, topicToken, owner.client.token!, owner.password, 'to somebody else', other.email])
    expect(text).not.toContain(secret);
  expect(idsOf((await exportOf(owner)).body.topics)).not.toContain(otherTopic.id);
});

test('a new account has an export as well', async () => {
  const owner = await stack.person();
  const { status, body } = await exportOf(owner);
  expect(status).toBe(200);
  const { export_metadata: _metadata, account: _account, statistics, audit_log: log, ...arrays } = body;
  expect(Object.values(arrays)).toEqual([[], [], [], [], [], [], [], []]);
  expect(log).toMatchObject([{ action: 'login.succeeded' }]);
  expect(statistics).toEqual({
    total_topics: 0,
    total_messages: 0,
    total_devices: 0,
    total_subscriptions: 0,
    total_api_keys: 0,
    account_age_days: 0,
  });
});

test('deleted messages are left out, edited ones are as they stand, and any text survives', async () => {
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

test('an export takes the scope account:read, and an account', async () => {
  const { owner, topicToken } = await makeFullAccount(stack);
  const keyOf = async (...scopes: string[]) =>
    stack.caller({ 'X-API-Key': (await owner.post('/api/keys', { name: 'k', scopes })).body.key });
  const byKey = await (await keyOf('account:read')).get('/api/users/me/data');
  expect(byKey.status).toBe(200);
  // The export is its user's: the key's own limits on private topics of teams do not count.
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

test('what others did to the account is in its export, and not from where', async () => {
  const [owner, admin, stranger] = [
    await stack.person({ tier: 'TEAM' }),
    await stack.person({ tier: 'TEAM' }),
    new Client(),
  ];
  const teamId = await stack.team(admin, [[owner, 'member']]);
  expect((await admin.patch(`/api/teams/${teamId}/members/${owner.id}`, { role: 'admin' })).status).toBe(200);
  expect((await stranger.call('POST', '/auth/login', { json: { email: owner.email, password: 'wrong' } })).status).toBe(
    401,
  );
  const { audit_log: log } = (await exportOf(owner)).body;
  expect(
    log.map(
      ({
        action,
        actor,
        origin,
      }: {
        action: string;
        actor: { type: string; id: string | null; name: string | null };
        origin: { address: string | null };
      }) => [action, actor.type, actor.id, actor.name, origin.address],
    ),
  ).toEqual([
    ['login.succeeded', 'account', owner.id, null, expect.any(String)],
    // A guess at the password is about the account, wherever it came from.
    ['login.failed', 'anonymous', null, null, stranger.address],
    ['team.role_changed', 'account', admin.id, null, null],
  ]);
});

test('HEAD tells about the file without making it', async () => {
  const owner = await stack.person();
  const { status, headers, body } = await owner.client.call('HEAD', '/api/users/me/data');
  expect([status, headers.get('content-disposition'), body]).toEqual([
    200,
    `attachment; filename="tocsin-export-${owner.id}.json"`,
    undefined,
  ]);
});
