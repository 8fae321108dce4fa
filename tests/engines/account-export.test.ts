import { expect, test } from '@jest/globals';
import { write } from '@tocsin/shared/ports/documents.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newTopic } from '@tocsin/shared/testing/builders.ts';
import { makeFullAccount } from '../support/full-account.ts';
import { Client } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const exportOf = (person: Person) => person.get('/api/users/me/data');
const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id).sort();

test('exports every topic once, also topics created in the same millisecond', async () => {
  const owner = await stack.person();
  const createdAt = Date.now();
  const made = Array.from({ length: 650 }, (_, place) =>
    newTopic(owner.id, { createdAt: createdAt + (place < 450 ? 0 : place) }),
  );
  await store.documents().commit(made.map((topic) => write.insert(topics, topic)));
  const busy = made[449]!;
  for (let sent = 0; sent < 3; sent += 1) await stack.caller().publish(busy.name, `text ${sent}`);
  const { body } = await exportOf(owner);
  expect(body.topics).toHaveLength(650);
  expect(new Set(idsOf(body.topics))).toEqual(new Set(idsOf(made)));
  expect(body.statistics).toMatchObject({ total_topics: 650, total_messages: 3 });
});

test('gives the age of an account in whole days', async () => {
  const owner = await stack.person();
  const user = (await store.documents().get(users, owner.id))!;
  await store.documents().update(users, user, { createdAt: Date.now() - 2.5 * 86_400_000 });
  expect((await exportOf(owner)).body.statistics.account_age_days).toBe(2);
});

test('exports all parts of the account in one file, with items as in their lists', async () => {
  const { owner, topic, teamTopic, texts, waitingTexts } = await makeFullAccount(stack, store.documents());
  const answer = await exportOf(owner);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="tocsin-export-${owner.id}.json"`);
  expect(answer.headers.get('cache-control')).toBe('no-store');

  const { export_metadata: metadata, account, statistics, ...arrays } = answer.body;
  const names = [
    'topics',
    'messages',
    'scheduled_messages',
    'devices',
    'api_keys',
    'topic_access_tokens',
    'sinks',
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
  const listed = (await owner.get('/api/messages/scheduled')).body.reverse();
  expect(arrays.scheduled_messages).toEqual(listed);
  expect(listed.map(({ message }: { message: string }) => message)).toEqual(waitingTexts);
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

test('exports a new account', async () => {
  const owner = await stack.person();
  const { status, body } = await exportOf(owner);
  expect(status).toBe(200);
  const { export_metadata: _metadata, account: _account, statistics, audit_log: log, ...arrays } = body;
  expect(Object.values(arrays)).toEqual([[], [], [], [], [], [], [], [], [], []]);
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

test('exports audit entries of others about the account without their origin', async () => {
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
    // A failed login concerns the account, wherever it came from.
    ['login.failed', 'anonymous', null, null, stranger.address],
    ['team.role_changed', 'account', admin.id, null, null],
  ]);
});
