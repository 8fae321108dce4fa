import { beforeAll, describe, expect, test } from '@jest/globals';
import { createTopic, type Answer } from '../support/stack.ts';
import { useStack, type Caller, type Person } from '../support/use-stack.ts';

const stack = useStack();
let owner: Person;
let member: Person;
let teamId: string;
/** One topic of each kind with one message each; the member is subscribed to all except the owner's private topic. */
let topics: Record<'secret' | 'open' | 'teamSecret' | 'teamOpen', { id: string; name: string }>;

beforeAll(async () => {
  [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  teamId = await stack.team(owner, [[member, 'member']]);
  topics = {
    secret: await createTopic(owner, { access_level: 'private' }),
    open: await createTopic(owner),
    teamSecret: await createTopic(owner, { access_level: 'private', team_id: teamId }),
    teamOpen: await createTopic(owner, { team_id: teamId }),
  };
  for (const [kind, { name }] of Object.entries(topics)) await owner.publish(name, kind);
  for (const { name } of [topics.open, topics.teamSecret, topics.teamOpen])
    await member.post('/api/subscriptions', { topic_name: name });
  for (const { name } of Object.values(topics)) await owner.post('/api/subscriptions', { topic_name: name });
});

const key = async (person: Person, scopes: string[]) =>
  stack.caller({ 'X-API-Key': (await person.post('/api/keys', { name: 'k', scopes })).body.key });
const searched = async (caller: Caller): Promise<string[]> =>
  (await caller.get('/api/messages/search')).body.messages.map(({ message }: { message: string }) => message).sort();
const recent = async (caller: Caller): Promise<string[]> =>
  (await caller.get('/api/messages/recent')).body.map(({ message }: { message: string }) => message).sort();
const counted = async (caller: Caller): Promise<number> => (await caller.get('/api/messages/activity')).body.total;

test('a login reads topics that its user owns, subscribes to or reaches through a team', async () => {
  expect(await searched(owner)).toEqual(['open', 'secret', 'teamOpen', 'teamSecret']);
  expect(await recent(owner)).toEqual(['open', 'secret', 'teamOpen', 'teamSecret']);
  expect(await counted(owner)).toBe(4);
  expect(await searched(member)).toEqual(['open', 'teamOpen', 'teamSecret']);
  expect(await recent(member)).toEqual(['open', 'teamOpen', 'teamSecret']);
  expect(await counted(member)).toBe(3);
});

test('an API key does not open private topics of others, and results omit them', async () => {
  const [ofOwner, ofMember] = [await key(owner, ['subscribe']), await key(member, ['subscribe'])];
  expect(await searched(ofOwner)).toEqual(['open', 'secret', 'teamOpen', 'teamSecret']);
  expect(await searched(ofMember)).toEqual(['open', 'teamOpen']);
  expect(await recent(ofMember)).toEqual(['open', 'teamOpen']);
  expect(await counted(ofMember)).toBe(2);
  for (const path of [
    `search?topic=${topics.teamSecret.name}`,
    `recent?topic=${topics.teamSecret.name}`,
    `activity?topics=${topics.open.name},${topics.teamSecret.name}`,
  ]) {
    expect(await ofMember.get(`/api/messages/${path}`)).toMatchObject({
      status: 403,
      body: { detail: 'Insufficient permissions to access this topic' },
    });
  }
  expect(await ofMember.get(`/api/topics/${topics.teamSecret.name}/messages`)).toMatchObject({ status: 403 });
});

describe.each(['search', 'recent', 'activity'])('GET /api/messages/%s', (what) => {
  const path = `/api/messages/${what}`;
  const named = (name: string) => `${path}?${what === 'activity' ? 'topics' : 'topic'}=${name}`;

  test('requires an account', async () => {
    expect(await stack.caller().get(path)).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
    expect(await stack.caller({ Authorization: 'Bearer nonsense' }).get(path)).toMatchObject({
      status: 401,
      body: { detail: 'Could not validate credentials' },
    });
    const { token } = (
      await owner.post(`/api/topics/${topics.secret.name}/access-tokens`, { name: 't', permissions: ['read'] })
    ).body;
    for (const at of [path, named(topics.secret.name)]) {
      expect(await stack.caller({ 'X-Topic-Token': token }).get(at)).toMatchObject({
        status: 403,
        body: { detail: 'A topic token opens only its topic' },
      });
    }
  });

  test('requires the scope `subscribe` of a key', async () => {
    const others = [
      'publish',
      'topics:read',
      'topics:write',
      'account:read',
      'account:write',
      'keys:read',
      'keys:write',
    ];
    expect(await (await key(owner, others)).get(path)).toMatchObject({
      status: 403,
      body: { detail: 'Missing scope: subscribe' },
    });
    expect((await (await key(owner, ['subscribe'])).get(path)).status).toBe(200);
  });

  test('checks run in order: topic, caller, access, parameters', async () => {
    expect(await stack.caller().get(`${named('no-such-topic-at-all')}&limit=0`)).toMatchObject({
      status: 404,
      body: { detail: 'Topic not found' },
    });
    expect((await stack.caller().get(`${named(topics.secret.name)}&priority_min=9`)).status).toBe(401);
    expect((await stack.caller().get(`${named(topics.open.name)}&priority_min=9`)).status).toBe(401);
    expect((await (await stack.person()).get(`${named(topics.secret.name)}&priority_min=9`)).status).toBe(403);
  });
});

test('searching a private topic requires read access', async () => {
  const path = `/api/topics/${topics.teamSecret.name}/messages`;
  const tokens = `/api/topics/${topics.teamSecret.name}/access-tokens`;
  const [reading, writing] = [
    (await owner.post(tokens, { name: 'r', permissions: ['read'] })).body.token,
    (await owner.post(tokens, { name: 'w', permissions: ['write'] })).body.token,
  ];
  const total = ({ status, body }: Answer): unknown => [status, body.total];
  for (const reader of [owner, member, stack.caller({ 'X-Topic-Token': reading }), await key(owner, ['subscribe'])])
    expect(total(await reader.get(path))).toEqual([200, 1]);
  expect(await stack.caller().get(path)).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
  for (const closed of [await stack.person(), stack.caller({ 'X-Topic-Token': writing }), await key(member, ['*'])]) {
    expect(await closed.get(path)).toMatchObject({
      status: 403,
      body: { detail: 'Insufficient permissions to access this topic' },
    });
  }
  expect(await (await key(owner, ['topics:read', 'publish'])).get(path)).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: subscribe' },
  });
  expect(total(await stack.caller().get(`/api/topics/${topics.open.name}/messages`))).toEqual([200, 1]);
});

test('messages disappear immediately when the user loses access, with or without a subscription', async () => {
  const [friend, topic] = [await stack.person(), await createTopic(owner)];
  await owner.publish(topic.name, 'was open');
  await friend.post('/api/subscriptions', { topic_name: topic.name });
  expect([await searched(friend), await recent(friend), await counted(friend)]).toEqual([
    ['was open'],
    ['was open'],
    1,
  ]);
  expect((await owner.patch(`/api/topics/${topic.id}`, { access_level: 'private' })).status).toBe(200);
  expect([await searched(friend), await recent(friend), await counted(friend)]).toEqual([[], [], 0]);
  expect((await friend.get(`/api/messages/search?topic=${topic.name}`)).status).toBe(403);
  expect((await owner.delete(`/api/topics/${topic.id}`)).status).toBe(204);
  expect((await owner.get(`/api/messages/search?topic=${topic.name}`)).status).toBe(404);
  expect(await searched(owner)).toEqual(['open', 'secret', 'teamOpen', 'teamSecret']);
});
