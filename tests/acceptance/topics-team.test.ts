import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Caller } from '../support/use-stack.ts';

const stack = useStack();
const make = (caller: Caller, team_id: string, over: object = {}) =>
  caller.post('/api/topics', { name: newTopicName(), team_id, ...over });

test("the owner and admins create a team's topics, which belong to the owner", async () => {
  const [owner, admin, member, outsider] = [
    await stack.person({ tier: 'TEAM' }),
    await stack.person(),
    await stack.person(),
    await stack.person(),
  ];
  const team_id = await stack.team(owner, [
    [admin, 'admin'],
    [member, 'member'],
  ]);
  expect(await make(owner, team_id)).toMatchObject({
    status: 201,
    body: { team_id, owner_id: owner.id, can_manage: true },
  });
  expect(await make(admin, team_id, { access_level: 'private' })).toMatchObject({
    status: 201,
    body: { team_id, owner_id: owner.id, can_manage: true },
  });
  for (const refused of [await make(member, team_id), await make(outsider, team_id)]) {
    expect(refused).toMatchObject({ status: 403, body: { detail: 'Insufficient permissions' } });
  }
  expect(await make(owner, randomUUID())).toMatchObject({ status: 404, body: { detail: 'Team not found' } });
  expect((await member.get('/api/topics/my')).body).toEqual([]);
  expect((await owner.get('/api/topics/my')).body.length).toBe(2);
});

test('private topics of a team count for the owner, also those that admins create', async () => {
  const [owner, admin] = [await stack.person({ tier: 'ESSENTIALS' }), await stack.person({ tier: 'TEAM' })];
  const team_id = await stack.team(owner, [[admin, 'admin']]);
  const closed = { access_level: 'private' };
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      at % 2 === 0 ? make(admin, team_id, closed) : owner.post('/api/topics', { name: newTopicName(), ...closed }),
    ),
  );
  expect(answers.filter((answer) => answer.status === 201).length).toBe(10);
  expect(await make(admin, team_id, closed)).toMatchObject({
    status: 403,
    body: { detail: 'Private topic limit reached' },
  });
  expect((await admin.post('/api/topics', { name: newTopicName(), ...closed })).status).toBe(201);
});

test('members read and publish to a private team topic, and admins manage it', async () => {
  const [owner, admin, member, outsider] = [
    await stack.person({ tier: 'TEAM' }),
    await stack.person(),
    await stack.person(),
    await stack.person(),
  ];
  const team_id = await stack.team(owner, [
    [admin, 'admin'],
    [member, 'member'],
  ]);
  const { id, name } = await createTopic(owner, { team_id, access_level: 'private' });
  const status = async (caller: Caller) => [
    (await caller.get(`/api/topics/${name}`)).status,
    (await caller.publish(name)).status,
    (await caller.patch(`/api/topics/${id}`, {})).status,
  ];
  expect(await status(owner)).toEqual([200, 200, 200]);
  expect(await status(admin)).toEqual([200, 200, 200]);
  expect(await status(member)).toEqual([200, 200, 403]);
  expect(await status(outsider)).toEqual([403, 403, 403]);
  expect(await status(stack.caller())).toEqual([401, 401, 401]);
});

test("a key opens a team's private topic only for the owner", async () => {
  const [owner, admin] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const team_id = await stack.team(owner, [[admin, 'admin']]);
  const { name } = await createTopic(owner, { team_id, access_level: 'private' });
  const keyOf = async (person: Caller) =>
    stack.caller({ 'X-API-Key': (await person.post('/api/keys', { name: 'k' })).body.key });
  const [ofOwner, ofAdmin] = [await keyOf(owner), await keyOf(admin)];
  expect((await ofOwner.get(`/api/topics/${name}`)).status).toBe(200);
  expect((await ofAdmin.get(`/api/topics/${name}`)).status).toBe(403);
  expect(await make(ofAdmin, team_id, { access_level: 'private' })).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions' },
  });
  expect((await make(ofAdmin, team_id)).status).toBe(201);
});
