import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();

const plain = { min_priority: 5, repeat_every: '2m', repeat_max: 5, steps: [], auto_ack_on_resolve: true };
const pathOf = ({ id }: { id: string }) => `/api/topics/${id}/escalation`;

async function ownTopic(given: Record<string, unknown> = {}) {
  const owner = await stack.person({ tier: 'TEAM' });
  return { owner, topic: await createTopic(owner, given) };
}
const topicStep = (name: string, after = '5m') => ({ ...plain, steps: [{ after, to: { topic: name } }] });
const userStep = (to: object, after = '5m') => ({ ...plain, steps: [{ after, to }] });

test('a policy is set, read, replaced and deleted', async () => {
  const { owner, topic } = await ownTopic();
  const managers = await createTopic(owner);
  expect(await owner.get(pathOf(topic))).toMatchObject({
    status: 404,
    body: { detail: 'Escalation policy not found' },
  });
  const steps = [
    { after: '5m', to: { users: [owner.id], team_role: null } },
    { after: '15m', to: { topic: managers.name } },
  ];
  const policy = { ...plain, steps };
  expect(await owner.put(pathOf(topic), policy)).toMatchObject({ status: 200, body: policy });
  expect((await owner.get(pathOf(topic))).body).toEqual(policy);

  const { min_priority, repeat_max } = { min_priority: 3, repeat_max: 0 };
  const replaced = await owner.put(pathOf(topic), { min_priority, repeat_every: '90s', repeat_max });
  expect(replaced).toMatchObject({ status: 200, body: { ...plain, min_priority, repeat_max, repeat_every: '90s' } });
  expect((await owner.delete(pathOf(topic))).status).toBe(204);
  expect((await owner.delete(pathOf(topic))).status).toBe(404);
  expect((await owner.get(pathOf(topic))).status).toBe(404);
});

test.each([
  ['min_priority', { min_priority: 0 }, 'min_priority: must be 1 to 5'],
  ['min_priority', { min_priority: 6 }, 'min_priority: must be 1 to 5'],
  ['repeat_every', { repeat_every: '29s' }, 'repeat_every: must be a duration from 30s to 1h, such as 5m'],
  ['repeat_every', { repeat_every: '61m' }, 'repeat_every: must be a duration from 30s to 1h, such as 5m'],
  ['repeat_every', { repeat_every: 'soon' }, 'repeat_every: must be a duration from 30s to 1h, such as 5m'],
  ['repeat_every', { repeat_every: 120 }, 'repeat_every: must be a string'],
  ['repeat_max', { repeat_max: 21 }, 'repeat_max: must be 0 to 20'],
  ['repeat_max', { repeat_max: -1 }, 'repeat_max: must be 0 to 20'],
  ['after', userStep({ users: [randomUUID()] }, '25h'), 'steps.0.after: must be a duration from 1s to 1d, such as 5m'],
  ['to', userStep({}), 'steps.0.to: must have either users or team_role, or topic'],
  ['to', userStep({ users: [] }), 'steps.0.to: must have either users or team_role, or topic'],
  ['to', userStep({ topic: 'a', team_role: 'admin' }), 'steps.0.to: must have either users or team_role, or topic'],
  ['users', userStep({ users: ['ada'] }), 'steps.0.to.users.0: must be a UUID'],
  ['team_role', userStep({ team_role: 'boss' }), 'steps.0.to.team_role: must be one of owner, admin, member'],
])('refuses an invalid %s', async (_, given, detail) => {
  const { owner, topic } = await ownTopic();
  expect(await owner.put(pathOf(topic), { ...plain, ...given })).toMatchObject({ status: 422, body: { detail } });
});

test('has at most five steps, each later than the one before', async () => {
  const { owner, topic } = await ownTopic();
  const after = (...minutes: number[]) => ({
    ...plain,
    steps: minutes.map((one) => ({ after: `${one}m`, to: { users: [owner.id] } })),
  });
  for (const [policy, detail] of [
    [after(1, 2, 3, 4, 5, 6), 'steps: must be at most 5'],
    [after(5, 5), 'steps: after must rise from step to step'],
    [after(6, 5), 'steps: after must rise from step to step'],
  ] as const)
    expect(await owner.put(pathOf(topic), policy)).toMatchObject({ status: 422, body: { detail } });
  expect((await owner.put(pathOf(topic), after(1, 2, 3, 4, 1440))).status).toBe(200);
});

describe('steps to users', () => {
  test('only users who can read the topic', async () => {
    const { owner, topic } = await ownTopic({ access_level: 'private' });
    const stranger = await stack.person();
    for (const id of [stranger.id, randomUUID()])
      expect(await owner.put(pathOf(topic), userStep({ users: [owner.id, id] }))).toMatchObject({
        status: 422,
        body: { detail: `steps.0.to.users: ${id} cannot read the topic` },
      });
    const open = await createTopic(owner);
    expect((await owner.put(pathOf(open), userStep({ users: [owner.id, stranger.id] }))).status).toBe(200);
  });

  test('a role requires a topic of a team', async () => {
    const { owner, topic } = await ownTopic();
    expect(await owner.put(pathOf(topic), userStep({ team_role: 'admin' }))).toMatchObject({
      status: 422,
      body: { detail: 'steps.0.to.team_role: requires a topic of a team' },
    });
    const ofTeam = await createTopic(owner, { team_id: await stack.team(owner) });
    expect((await owner.put(pathOf(ofTeam), userStep({ team_role: 'admin' }))).status).toBe(200);
  });
});

describe('steps to another topic', () => {
  test('only a topic that the caller manages', async () => {
    const { owner, topic } = await ownTopic();
    const { topic: foreign } = await ownTopic();
    for (const name of [foreign.name, 'does-not-exist'])
      expect(await owner.put(pathOf(topic), topicStep(name))).toMatchObject({
        status: 422,
        body: { detail: 'steps.0.to.topic: must be a topic that you manage' },
      });
  });

  test('not in a cycle, of any length', async () => {
    const { owner, topic: first } = await ownTopic();
    const [second, third] = [await createTopic(owner), await createTopic(owner)];
    const detail = 'steps: must not lead back to the topic';
    expect(await owner.put(pathOf(first), topicStep(first.name))).toMatchObject({ status: 422, body: { detail } });
    expect((await owner.put(pathOf(first), topicStep(second.name))).status).toBe(200);
    expect((await owner.put(pathOf(second), topicStep(third.name))).status).toBe(200);
    expect(await owner.put(pathOf(third), topicStep(first.name))).toMatchObject({ status: 422, body: { detail } });
  });

  test('not in a cycle of policies that are set concurrently', async () => {
    const { owner, topic: first } = await ownTopic();
    const second = await createTopic(owner);
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([
        owner.put(pathOf(first), topicStep(second.name)),
        owner.put(pathOf(second), topicStep(first.name)),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
      await Promise.all([owner.delete(pathOf(first)), owner.delete(pathOf(second))]);
    }
  });
});

test('only managers of the topic read, set and delete its policy', async () => {
  const [owner, admin, member] = [await stack.person({ tier: 'TEAM' }), await stack.person(), await stack.person()];
  const team_id = await stack.team(owner, [
    [admin, 'admin'],
    [member, 'member'],
  ]);
  const topic = await createTopic(owner, { team_id });
  expect((await admin.put(pathOf(topic), plain)).status).toBe(200);
  const refuse = async (caller: Pick<Person, 'get' | 'put' | 'delete'>, status: number) => {
    expect((await caller.put(pathOf(topic), plain)).status).toBe(status);
    expect((await caller.get(pathOf(topic))).status).toBe(status);
    expect((await caller.delete(pathOf(topic))).status).toBe(status);
  };
  await refuse(member, 403);
  await refuse(stack.caller(), 401);
  expect((await owner.get(`/api/topics/${randomUUID()}/escalation`)).status).toBe(404);
});

test('a deleted account leaves the policies that name it', async () => {
  const { owner, topic } = await ownTopic();
  const leaving = await stack.person();
  const named = userStep({ users: [owner.id, leaving.id] });
  expect((await owner.put(pathOf(topic), named)).status).toBe(200);
  expect((await leaving.delete('/api/users/me', { password: leaving.password })).status).toBe(204);
  await eventually(async () => {
    expect((await owner.get(pathOf(topic))).body.steps[0].to.users).toEqual([owner.id]);
  });
});
