import { expect, test } from '@jest/globals';
import type { Tier } from '@tocsin/shared/domain/accounts/tiers.ts';
import { newTopicName, type Answer } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const makePrivate = ({ client }: Person, node = 0) =>
  client.call('POST', '/api/topics', { json: { name: newTopicName(), access_level: 'private' }, node });

test('a FREE account has one private topic and a warning that it is the last', async () => {
  const owner = await stack.person();
  const first = await makePrivate(owner);
  expect(first).toMatchObject({
    status: 201,
    body: { subscription_warning: 'This is the last private topic that the FREE tier allows.' },
  });
  expect(await makePrivate(owner)).toMatchObject({ status: 403, body: { detail: 'Private topic limit reached' } });
  expect((await owner.post('/api/topics', { name: newTopicName() })).status).toBe(201);
});

test.each<[Tier, number]>([
  ['FREE', 1],
  ['ESSENTIALS', 10],
  ['TEAM', 50],
])('concurrent creations succeed exactly as often as %s allows: %i', async (tier, allowed) => {
  const owner = await stack.person({ tier });
  const answers: Answer[] = [];
  // Ten remain for the race.
  while (answers.length < allowed - 10) answers.push(await makePrivate(owner, answers.length));
  answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, node) => makePrivate(owner, node)))));
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect({ made: count(201), refused: count(403) }).toEqual({ made: allowed, refused: answers.length - allowed });
  expect(answers.filter((answer) => answer.body.subscription_warning).length).toBe(1);
});

test('making a topic private counts against the limit, and making it public or deleting it frees a place', async () => {
  const owner = await stack.person();
  const held = (await makePrivate(owner)).body;
  const other = (await owner.post('/api/topics', { name: newTopicName() })).body;
  const close = (id: string) => owner.patch(`/api/topics/${id}`, { access_level: 'private' });
  expect(await close(other.id)).toMatchObject({ status: 403, body: { detail: 'Private topic limit reached' } });
  expect((await close(held.id)).status).toBe(200);
  expect((await owner.patch(`/api/topics/${held.id}`, { access_level: 'public' })).status).toBe(200);
  expect(await close(other.id)).toMatchObject({ status: 200, body: { access_level: 'private' } });
  expect(await close(held.id)).toMatchObject({ status: 403 });
  expect((await owner.delete(`/api/topics/${other.id}`)).status).toBe(204);
  expect((await close(held.id)).status).toBe(200);
});

test('creating a private topic and making one private concurrently cannot exceed the limit', async () => {
  const owner = await stack.person();
  const open = (await owner.post('/api/topics', { name: newTopicName() })).body;
  const answers = await Promise.all([
    makePrivate(owner, 1),
    owner.patch(`/api/topics/${open.id}`, { access_level: 'private' }),
  ]);
  expect(answers.filter((answer) => answer.status === 403).length).toBe(1);
});

test('an expired tier counts as FREE, and a tier that expires soon causes a warning', async () => {
  const lapsed = await stack.person({ tier: 'TEAM', tierExpiresAt: Date.now() - 1_000 });
  expect((await makePrivate(lapsed)).status).toBe(201);
  expect((await makePrivate(lapsed)).status).toBe(403);
  const ending = await stack.person({ tier: 'TEAM', tierExpiresAt: Date.now() + 86_400_000 });
  expect((await makePrivate(ending)).body.subscription_warning).toMatch(/^The TEAM tier ends at /);
});

test('private topics of a team do not become read-only after a lapse and do not count for the owner', async () => {
  const owner = await stack.person({ tier: 'TEAM', tierExpiresAt: Date.now() + 3_600_000 });
  const team_id = await stack.team(owner);
  const make = async (over: object = {}) =>
    (await owner.post('/api/topics', { name: newTopicName(), access_level: 'private', ...over })).body.name as string;
  const [ofTeam, first, second] = [await make({ team_id }), await make(), await make()];
  const operator = stack.operator();
  expect((await operator.put(`/admin/users/${owner.email}/tier`, { tier: 'FREE' })).status).toBe(200);
  expect([
    (await owner.publish(ofTeam)).status,
    (await owner.publish(first)).status,
    (await owner.publish(second)).status,
  ]).toEqual([200, 200, 403]);
  expect((await makePrivate(owner)).status).toBe(403);
});

test('read-only applies to all callers, including tokens and keys', async () => {
  const owner = await stack.person({ tier: 'ESSENTIALS', tierExpiresAt: Date.now() + 3_600_000 });
  await makePrivate(owner);
  const { name } = (await makePrivate(owner)).body;
  const { token } = (
    await owner.post(`/api/topics/${name}/access-tokens`, { name: 't', permissions: ['read', 'write'] })
  ).body;
  const { key } = (await owner.post('/api/keys', { name: 'k' })).body;
  const operator = stack.operator();
  expect((await operator.put(`/admin/users/${owner.email}/tier`, { tier: 'FREE' })).status).toBe(200);
  for (const caller of [owner, stack.caller({ 'X-Topic-Token': token }), stack.caller({ 'X-API-Key': key })]) {
    expect(await caller.publish(name)).toMatchObject({ status: 403, body: { detail: 'Private topic limit reached' } });
    expect((await caller.get(`/${name}/json`)).status).toBe(200);
  }
});
