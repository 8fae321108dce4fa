import { expect, test } from '@jest/globals';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { createTopic, made } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

async function teamWithTopics() {
  const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const id = await stack.team(owner, [[member, 'member']]);
  const open = await createTopic(owner, { team_id: id, is_discoverable: true, description: 'd' });
  const closed = await createTopic(member, {}).then(() => createTopic(owner, { team_id: id, access_level: 'private' }));
  for (const { name } of [open, closed]) expect((await member.publish(name, 'kept?')).status).toBe(200);
  return { owner, member, id, open, closed };
}

test('refuses to delete a team with a topic under legal hold', async () => {
  const { owner, id, closed } = await teamWithTopics();
  await eventually(async () => {
    const topic = (await store.documents().get(topics, closed.id))!;
    await store.documents().update(topics, topic, { isHeld: true });
  });
  expect(await owner.delete(`/api/teams/${id}?delete_topics=1`)).toMatchObject({
    status: 409,
    body: { detail: 'Topic is under legal hold' },
  });
  expect((await owner.get(`/api/teams/${id}`)).body).toMatchObject({ member_count: 2, is_active: true });
  expect((await owner.delete(`/api/teams/${id}?delete_topics=0`)).status).toBe(204);
  expect((await owner.get(`/api/topics/${closed.name}`)).body.team_id).toBeNull();
});

test('pauses the sinks that others than the owner created', async () => {
  const { owner, member, id, closed } = await teamWithTopics();
  expect((await owner.patch(`/api/teams/${id}/members/${member.id}`, { role: 'admin' })).status).toBe(200);
  const path = `/api/topics/${closed.id}/sinks`;
  const sinkOf = (person: typeof owner) =>
    made(person.post(path, { name: 's', kind: 'webhook', url: 'https://hooks.example.com/' }));
  const [lost, kept] = [await sinkOf(member), await sinkOf(owner)];
  expect((await owner.delete(`/api/teams/${id}`)).status).toBe(204);
  expect((await owner.get(path)).body).toMatchObject([
    { id: lost.id, state: 'paused', state_reason: 'Its creator does not manage the topic any more' },
    { id: kept.id, state: 'active' },
  ]);
  expect((await owner.patch(`${path}/${lost.id}`, { state: 'active' })).body).toMatchObject({ state: 'active' });
});
