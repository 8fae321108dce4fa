import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { useStack, type Caller } from '../support/use-stack.ts';

const stack = useStack();
const newName = () => `team-${randomBytes(6).toString('hex')}`;
const create = (caller: Caller, over: object = {}) =>
  caller.post('/api/teams', { name: newName(), display_name: 'The crew', ...over });
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const forbidden = { status: 403, body: { detail: 'Insufficient permissions' } };

test('a new team has its owner as the only member', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const name = newName();
  const { status, body } = await create(owner, { name, display_name: 'Über 🚒', description: 'On call' });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.any(String),
    name,
    display_name: 'Über 🚒',
    description: 'On call',
    owner_id: owner.id,
    member_count: 1,
    my_role: 'owner',
    is_active: true,
    created_at: expect.stringMatching(iso),
    updated_at: body.created_at,
  });
  const member = {
    id: expect.any(String),
    team_id: body.id,
    user_id: owner.id,
    username: owner.user.username,
    email: owner.email,
    role: 'owner',
    joined_at: body.created_at,
    is_active: true,
  };
  expect(await owner.get(`/api/teams/${body.id}`)).toMatchObject({ status: 200, body: { ...body, members: [member] } });
  expect((await owner.get(`/api/teams/${body.id}/members`)).body).toEqual([member]);
  expect((await owner.get('/api/teams')).body).toEqual([body]);
});

test('the description is optional', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  expect((await create(owner)).body).toMatchObject({ description: '' });
  expect((await create(owner, { description: null })).body).toMatchObject({ description: '' });
});

test('creating a team requires the TEAM tier, which is checked before the fields', async () => {
  for (const person of [
    await stack.person(),
    await stack.person({ tier: 'ESSENTIALS' }),
    await stack.person({ tier: 'TEAM', tierExpiresAt: Date.now() - 1_000 }),
  ]) {
    expect(await person.post('/api/teams', {})).toMatchObject({
      status: 403,
      body: { detail: 'Requires the TEAM tier or higher' },
    });
  }
  expect(await stack.caller().post('/api/teams', {})).toMatchObject({
    status: 401,
    body: { detail: 'Not authenticated' },
  });
});

test.each([
  [{}, 'name: is required; display_name: is required'],
  [{ name: 'a' }, 'name: must be 2 to 40 of the characters a-z, 0-9 and -'],
  [{ name: 'x'.repeat(41) }, 'name: must be 2 to 40 of the characters a-z, 0-9 and -'],
  [{ name: 'Ops' }, 'name: must be 2 to 40 of the characters a-z, 0-9 and -'],
  [{ name: 'ops_1' }, 'name: must be 2 to 40 of the characters a-z, 0-9 and -'],
  [{ display_name: '' }, 'display_name: must be 1 to 80 characters'],
  [{ display_name: 'x'.repeat(81) }, 'display_name: must be 1 to 80 characters'],
  [{ display_name: null }, 'display_name: is required'],
  [{ description: 'x'.repeat(1_001) }, 'description: must be at most 1000 characters'],
  [{ description: 7 }, 'description: must be a string'],
])('refuses a team with %j', async (over, detail) => {
  const owner = await stack.person({ tier: 'TEAM' });
  const fields = Object.keys(over).length === 0 ? {} : { name: newName(), display_name: 'Crew', ...over };
  expect(await owner.post('/api/teams', fields)).toMatchObject({ status: 422, body: { detail } });
});

test('counts lengths in code points and accepts the shortest and longest names', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const name = newName().padEnd(40, '-');
  expect((await create(owner, { name, display_name: '🔥'.repeat(80), description: '🔥'.repeat(1_000) })).status).toBe(
    201,
  );
});

test('a name belongs to one team, also under concurrent creation', async () => {
  const [one, two] = [await stack.person({ tier: 'TEAM' }), await stack.person({ tier: 'TEAM' })];
  const name = newName();
  const made = await Promise.all(
    [one, two, one, two].map(({ client }, node) =>
      client.call('POST', '/api/teams', { json: { name, display_name: 'T' }, node }),
    ),
  );
  expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  expect(await create(two, { name })).toMatchObject({ status: 409, body: { detail: 'Team name already exists' } });
});

test('a PATCH changes the given fields and the time, and has no effect when empty', async () => {
  const [owner, admin] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const id = await stack.team(owner, [[admin, 'admin']]);
  const before = (await owner.get('/api/teams')).body[0];
  const patch = (body: object) => admin.patch(`/api/teams/${id}`, body);
  expect(await patch({})).toMatchObject({ status: 200, body: { ...before, my_role: 'admin' } });
  const changed = await patch({ display_name: 'New', name: 'ignored', is_active: false });
  expect(changed).toMatchObject({
    status: 200,
    body: { ...before, my_role: 'admin', display_name: 'New', updated_at: expect.any(String) },
  });
  expect(changed.body.updated_at > before.updated_at).toBe(true);
  expect((await patch({ description: 'Text' })).body).toMatchObject({ display_name: 'New', description: 'Text' });
  for (const wrong of [
    { display_name: null },
    { description: null },
    { display_name: '' },
    { description: 'x'.repeat(1_001) },
  ]) {
    expect({ wrong, status: (await patch(wrong)).status }).toEqual({ wrong, status: 422 });
  }
  expect((await owner.get(`/api/teams/${id}`)).body).toMatchObject({ display_name: 'New', description: 'Text' });
});

test('outsiders and members see and change only what their role allows', async () => {
  const [owner, admin, member, outsider] = [
    await stack.person({ tier: 'TEAM' }),
    await stack.person(),
    await stack.person(),
    await stack.person({ tier: 'TEAM' }),
  ];
  const id = await stack.team(owner, [
    [admin, 'admin'],
    [member, 'member'],
  ]);
  const statuses = async (caller: Caller) =>
    [
      await caller.get(`/api/teams/${id}`),
      await caller.get(`/api/teams/${id}/members`),
      await caller.get(`/api/teams/${id}/invites`),
      await caller.patch(`/api/teams/${id}`, {}),
      await caller.post(`/api/teams/${id}/reactivate`),
      await caller.post(`/api/teams/${id}/invites`, {}),
    ].map(({ status }) => status);
  expect(await statuses(owner)).toEqual([200, 200, 200, 200, 200, 422]);
  expect(await statuses(admin)).toEqual([200, 200, 200, 200, 403, 422]);
  expect(await statuses(member)).toEqual([200, 200, 403, 403, 403, 403]);
  expect(await statuses(outsider)).toEqual([403, 403, 403, 403, 403, 403]);
  expect(await statuses(stack.caller())).toEqual([401, 401, 401, 401, 401, 401]);
  for (const person of [admin, member, outsider])
    expect(await person.delete(`/api/teams/${id}`)).toMatchObject(forbidden);
  expect(await outsider.get(`/api/teams/${id}`)).toMatchObject(forbidden);
});

test('returns 404 for an unknown team and 422 for a malformed ID', async () => {
  const person = await stack.person({ tier: 'TEAM' });
  for (const answer of [
    await person.get(`/api/teams/${randomUUID()}`),
    await person.delete(`/api/teams/${randomUUID()}`),
    await person.post(`/api/teams/${randomUUID()}/reactivate`),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { detail: 'Team not found' } });
  }
  expect(await person.get('/api/teams/7')).toMatchObject({ status: 422, body: { detail: 'team_id: must be a UUID' } });
  expect((await stack.caller().get('/api/teams/7')).status).toBe(401);
});

test('keys with the account scopes work on teams', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const keyOf = async (scope: string) =>
    stack.caller({ 'X-API-Key': (await owner.post('/api/keys', { name: 'k', scopes: [scope] })).body.key });
  const [reader, writer] = [await keyOf('account:read'), await keyOf('account:write')];
  const { body } = await create(writer);
  expect((await reader.get(`/api/teams/${body.id}`)).status).toBe(200);
  expect(await writer.get('/api/teams')).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: account:read' },
  });
  expect(await create(reader)).toMatchObject({ status: 403, body: { detail: 'Missing scope: account:write' } });
});
