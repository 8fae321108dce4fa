import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { mailedLink } from '../support/mailbox.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Caller, type Person } from '../support/use-stack.ts';

const stack = useStack();
const forbidden = { status: 403, body: { detail: 'Insufficient permissions' } };
const setByTeam = { status: 403, body: { detail: 'This subscription is set by the team' } };

/** A team with an admin and a member, and a public and a private topic of it. */
async function crew() {
  const [owner, admin, member] = [await stack.person({ tier: 'TEAM' }), await stack.person(), await stack.person()];
  const id = await stack.team(owner, [
    [admin, 'admin'],
    [member, 'member'],
  ]);
  const topic = await createTopic(owner, { team_id: id });
  const closed = await createTopic(owner, { team_id: id, access_level: 'private' });
  return { id, owner, admin, member, topic, closed };
}
type Crew = Awaited<ReturnType<typeof crew>>;

const make = (caller: Caller, { id, topic }: Pick<Crew, 'id' | 'topic'>, fields: object = {}) =>
  caller.post(`/api/teams/${id}/subscriptions`, { topic_name: topic.name, members: 'all', ...fields });
const end = (caller: Caller, { id }: Pick<Crew, 'id'>, made: { id: string }) =>
  caller.delete(`/api/teams/${id}/subscriptions/${made.id}`);
const list = async (caller: Caller, { id }: Pick<Crew, 'id'>) =>
  (await caller.get(`/api/teams/${id}/subscriptions`)).body;
const own = async (person: Person) => (await person.get('/api/subscriptions')).body.subscriptions;
const settings = (mobile_notification_settings: object) => ({ mobile_notification_settings });

test('a team subscribes all its members with its settings, and lists what it set', async () => {
  const team = await crew();
  const { id, owner, admin, member, topic } = team;
  const { status, body } = await make(admin, team, { ...settings({ priority_threshold: 4 }), mandatory: true });
  expect({ status, body }).toEqual({
    status: 201,
    body: {
      id: expect.any(String),
      team_id: id,
      topic_id: topic.id,
      topic_name: topic.name,
      members: 'all',
      mobile_notification_settings: {
        priority_threshold: 4,
        sound_enabled: true,
        vibrate_enabled: true,
        tags_filter: [],
        notification_sound: 'default',
        allow_critical: false,
        badge: 'unread',
        digest: 'off',
      },
      mandatory: true,
      subscriber_count: 3,
      created_at: expect.any(String),
    },
  });
  for (const person of [owner, admin, member])
    expect(await own(person)).toMatchObject([
      {
        topic_id: topic.id,
        team_subscription_id: body.id,
        mandatory: true,
        team_settings: body.mobile_notification_settings,
        mobile_notifications_enabled: true,
        web_notifications_enabled: true,
        ...settings({ priority_threshold: 4 }),
      },
    ]);
  expect((await owner.get(`/api/topics/${topic.name}`)).body.subscriber_count).toBe(3);
  const second = (await make(owner, team)).body;
  expect((await list(owner, team)).map((one: { id: string }) => one.id)).toEqual([second.id, body.id]);
});

test('named members are subscribed, and no others', async () => {
  const team = await crew();
  const { owner, admin, member } = team;
  const made = await make(owner, team, { members: [member.id.toUpperCase(), member.id] });
  expect(made).toMatchObject({ status: 201, body: { members: [member.id], mandatory: false, subscriber_count: 1 } });
  expect(await own(member)).toMatchObject([{ team_subscription_id: made.body.id, mandatory: false }]);
  expect([...(await own(owner)), ...(await own(admin))]).toEqual([]);
});

test('a subscription for all also covers people who join later, one for named members does not', async () => {
  const team = await crew();
  const { id, owner, admin } = team;
  const made = (await make(owner, team)).body;
  await make(owner, { id, topic: team.closed }, { members: [admin.id] });
  const person = await stack.person();
  await owner.post(`/api/teams/${id}/invites`, { email: person.email, role: 'member' });
  const token = (await mailedLink(person.email, 'team-invite')).hash.slice('#token='.length);
  expect((await person.post('/api/teams/invites/accept', { token })).status).toBe(200);
  expect(await own(person)).toMatchObject([{ team_subscription_id: made.id, topic_id: team.topic.id }]);
});

test('people who join while a subscription for all is made are covered', async () => {
  const team = await crew();
  const { id, owner } = team;
  const people = [await stack.person(), await stack.person(), await stack.person()];
  const tokens: string[] = [];
  for (const { email } of people) {
    await owner.post(`/api/teams/${id}/invites`, { email, role: 'member' });
    tokens.push((await mailedLink(email, 'team-invite')).hash.slice('#token='.length));
  }
  const [made, ...joined] = await Promise.all([
    make(owner, team),
    ...people.map((person, at) => person.post('/api/teams/invites/accept', { token: tokens[at] })),
  ]);
  expect(made.status).toBe(201);
  expect(joined.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const person of people) expect(await own(person)).toMatchObject([{ team_subscription_id: made.body.id }]);
});

describe('a mandatory subscription', () => {
  test('cannot be removed by the member', async () => {
    const team = await crew();
    const { owner, member, topic } = team;
    await make(owner, team, { mandatory: true });
    const [{ id }] = await own(member);
    expect(await member.delete(`/api/subscriptions/${id}`)).toMatchObject(setByTeam);
    expect(await member.delete(`/api/subscriptions/by-topic/${topic.name}`)).toMatchObject(setByTeam);
    expect(await own(member)).toMatchObject([{ id }]);
  });

  test.each<[string, object]>([
    ['a higher threshold', settings({ priority_threshold: 4 })],
    ['mobile notifications off', { mobile_notifications_enabled: false }],
    ['web notifications off', { web_notifications_enabled: false }],
    ['a narrower tags filter', settings({ tags_filter: ['db'] })],
    ['a lower limit per minute', settings({ max_per_minute: 9 })],
    ['a higher threshold next to a pin', { is_pinned: true, ...settings({ priority_threshold: 5 }) }],
  ])('refuses %s', async (_, change) => {
    const team = await crew();
    const { owner, member } = team;
    await make(owner, team, {
      ...settings({ priority_threshold: 3, tags_filter: ['db', 'disk'], max_per_minute: 10 }),
      mandatory: true,
    });
    const before = await own(member);
    expect(await member.patch(`/api/subscriptions/${before[0].id}`, change)).toMatchObject(setByTeam);
    expect(await own(member)).toEqual(before);
  });

  test.each<[string, object]>([
    ['a lower threshold', settings({ priority_threshold: 1 })],
    ['no tags filter', settings({ tags_filter: [] })],
    ['more tags', settings({ tags_filter: ['net', 'disk', 'db'] })],
    ['no limit per minute', settings({ max_per_minute: null })],
    ['quiet hours', settings({ quiet_hours: { start: '22:00', end: '07:00', timezone: 'UTC', allow_priority: null } })],
    ['another sound', settings({ notification_sound: 'bell', sound_enabled: false, vibrate_enabled: false })],
    ['a pin', { is_pinned: true }],
  ])('allows %s', async (_, change) => {
    const team = await crew();
    const { owner, member } = team;
    await make(owner, team, {
      ...settings({ priority_threshold: 3, tags_filter: ['db', 'disk'], max_per_minute: 10 }),
      mandatory: true,
    });
    const [{ id }] = await own(member);
    expect((await member.patch(`/api/subscriptions/${id}`, change)).status).toBe(200);
  });

  test('keeps a subscription that the member had, and changes only what the team requires', async () => {
    const team = await crew();
    const { owner, member, topic } = team;
    const quiet_hours = { start: '22:00', end: '07:00', timezone: 'UTC', allow_priority: 5 };
    const former = (
      await member.post('/api/subscriptions', {
        topic_name: topic.name,
        web_notifications_enabled: false,
        ...settings({ priority_threshold: 5, sound_enabled: false, quiet_hours }),
      })
    ).body;
    await member.patch(`/api/subscriptions/${former.id}`, { is_pinned: true });
    const made = (await make(owner, team, { ...settings({ priority_threshold: 3 }), mandatory: true })).body;
    const taken = {
      id: former.id,
      is_pinned: true,
      web_notifications_enabled: true,
      ...settings({ priority_threshold: 3, sound_enabled: false, quiet_hours }),
    };
    expect(await own(member)).toMatchObject([{ ...taken, team_subscription_id: made.id, mandatory: true }]);
    expect((await end(owner, team, made)).status).toBe(204);
    expect(await own(member)).toMatchObject([{ ...taken, team_subscription_id: null, mandatory: false }]);
    expect((await owner.get(`/api/topics/${topic.name}`)).body.subscriber_count).toBe(1);
  });

  test('binds the admin who made it, too', async () => {
    const team = await crew();
    await make(team.admin, team, { mandatory: true });
    const [{ id }] = await own(team.admin);
    expect(await team.admin.delete(`/api/subscriptions/${id}`)).toMatchObject(setByTeam);
  });
});

test("a subscription that is not mandatory is the member's to change and remove", async () => {
  const team = await crew();
  const { owner, member } = team;
  await make(owner, team, settings({ priority_threshold: 2 }));
  const [{ id }] = await own(member);
  expect(
    (
      await member.patch(`/api/subscriptions/${id}`, {
        mobile_notifications_enabled: false,
        ...settings({ priority_threshold: 5 }),
      })
    ).status,
  ).toBe(200);
  expect((await member.delete(`/api/subscriptions/${id}`)).status).toBe(204);
  expect(await own(member)).toEqual([]);
});

test('ending it removes the subscriptions that it made', async () => {
  const team = await crew();
  const { owner, admin, member, topic } = team;
  const made = (await make(owner, team, { mandatory: true })).body;
  expect((await end(admin, team, made)).status).toBe(204);
  expect([...(await own(owner)), ...(await own(admin)), ...(await own(member)), ...(await list(owner, team))]).toEqual(
    [],
  );
  expect((await owner.get(`/api/topics/${topic.name}`)).body.subscriber_count).toBe(0);
  expect(await end(owner, team, made)).toMatchObject({ status: 404, body: { detail: 'Team subscription not found' } });
});

test('of several that cover a member, a mandatory one applies; when it ends, another one does', async () => {
  const team = await crew();
  const { owner, member } = team;
  const mandatory = (await make(owner, team, { members: [member.id], mandatory: true })).body;
  const other = (await make(owner, team)).body;
  const [{ id }] = await own(member);
  expect(await own(member)).toMatchObject([{ team_subscription_id: mandatory.id, mandatory: true }]);
  await end(owner, team, mandatory);
  expect(await own(member)).toMatchObject([{ id, team_subscription_id: other.id, mandatory: false }]);
});

describe('leaving ends it', () => {
  const losses: [string, (team: Crew) => Promise<{ status: number }>][] = [
    ['a removal', ({ owner, id, member }) => owner.delete(`/api/teams/${id}/members/${member.id}`)],
    ['leaving', ({ id, member }) => member.delete(`/api/teams/${id}/members/${member.id}`)],
    ['the end of the team', ({ owner, id }) => owner.delete(`/api/teams/${id}`)],
    ['the end of the team with its topics', ({ owner, id }) => owner.delete(`/api/teams/${id}?delete_topics=true`)],
  ];

  test.each(losses)('for public and private topics: %s', async (_, lose) => {
    const team = await crew();
    const { id, owner, member, topic, closed } = team;
    for (const one of [topic, closed]) await make(owner, { id, topic: one }, { mandatory: true });
    expect(await own(member)).toHaveLength(2);
    expect((await lose(team)).status).toBe(204);
    expect(await own(member)).toEqual([]);
  });

  test('a member who had subscribed to a public topic before keeps that subscription', async () => {
    const team = await crew();
    const { id, owner, member, topic } = team;
    const { id: former } = (await member.post('/api/subscriptions', { topic_name: topic.name })).body;
    await make(owner, team, { mandatory: true });
    await owner.delete(`/api/teams/${id}/members/${member.id}`);
    expect(await own(member)).toMatchObject([{ id: former, team_subscription_id: null, mandatory: false }]);
    expect((await member.delete(`/api/subscriptions/${former}`)).status).toBe(204);
  });

  test('a former member is not named any more', async () => {
    const team = await crew();
    const { id, owner, admin, member } = team;
    await make(owner, team, { members: [admin.id, member.id] });
    await owner.delete(`/api/teams/${id}/members/${member.id}`);
    expect(await list(owner, team)).toMatchObject([{ members: [admin.id], subscriber_count: 1 }]);
  });

  test('the owner of a deleted team keeps its topics without what the team had set', async () => {
    const team = await crew();
    const { id, owner } = team;
    await make(owner, team, { mandatory: true });
    expect((await owner.delete(`/api/teams/${id}`)).status).toBe(204);
    expect(await own(owner)).toEqual([]);
  });
});

test('only managers of the team make, list and end them', async () => {
  const team = await crew();
  const { id, owner, member } = team;
  const made = (await make(owner, team)).body;
  for (const caller of [member, await stack.person({ tier: 'TEAM' })]) {
    expect(await make(caller, team)).toMatchObject(forbidden);
    expect(await caller.get(`/api/teams/${id}/subscriptions`)).toMatchObject(forbidden);
    expect(await end(caller, team, made)).toMatchObject(forbidden);
  }
  const [other, another] = [await crew(), randomUUID()];
  expect(await end(other.owner, other, made)).toMatchObject({ status: 404 });
  expect(await end(owner, { id: another }, made)).toMatchObject({ status: 404, body: { detail: 'Team not found' } });
});

test('the topic must be one of the team', async () => {
  const team = await crew();
  const { owner } = team;
  const mine = await createTopic(owner);
  expect(await make(owner, team, { topic_name: mine.name })).toMatchObject({
    status: 422,
    body: { detail: 'topic_name: must be a topic of the team' },
  });
  expect(await make(owner, team, { topic_name: randomUUID() })).toMatchObject({
    status: 404,
    body: { detail: 'Topic not found' },
  });
});

test.each<[string, object, string]>([
  ['another word', { members: 'some' }, 'members: must be "all" or a list of 1 to 400 IDs of members'],
  ['an empty list', { members: [] }, 'members: must be "all" or a list of 1 to 400 IDs of members'],
  ['people outside the team', { members: [randomUUID()] }, 'members: must be members of the team'],
  [
    'quiet hours',
    settings({ quiet_hours: { start: '22:00', end: '07:00', timezone: 'UTC' } }),
    'mobile_notification_settings.quiet_hours: must be omitted, because each member sets them',
  ],
])('refuses %s', async (_, fields, detail) => {
  const team = await crew();
  expect(await make(team.owner, team, fields)).toMatchObject({ status: 422, body: { detail } });
  expect(await list(team.owner, team)).toEqual([]);
});

test('the account export shows what the team set', async () => {
  const team = await crew();
  const made = (await make(team.owner, team, { mandatory: true })).body;
  expect((await team.member.get('/api/users/me/data')).body.subscriptions).toMatchObject([
    { topic_id: team.topic.id, team_subscription_id: made.id, mandatory: true },
  ]);
});
