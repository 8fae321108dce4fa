import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { findMember, teamMembers } from '@tocsin/shared/collections/teams.ts';
import { subscriptions } from '@tocsin/shared/collections/subscriptions-collection.ts';
import { mailedLink } from '../support/mailbox.ts';
import { createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

async function crew() {
  const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const id = await stack.team(owner, [[member, 'admin']]);
  const open = await createTopic(owner, { team_id: id });
  const closed = await createTopic(owner, { team_id: id, access_level: 'private' });
  const leave = () => owner.delete(`/api/teams/${id}/members/${member.id}`);
  return { owner, member, id, open, closed, leave };
}

test("leaving removes subscriptions to the team's private topics and keeps others", async () => {
  const { owner, member, open, closed, leave } = await crew();
  for (const person of [owner, member]) {
    for (const { name } of [open, closed])
      expect((await person.post('/api/subscriptions', { topic_name: name })).status).toBe(201);
  }
  expect((await leave()).status).toBe(204);
  const left = await store
    .documents()
    .find(subscriptions, { index: 'byUser', equals: { userId: member.id }, limit: 10 });
  expect(left.map(({ topicId }) => topicId)).toEqual([open.id]);
  expect((await member.get('/api/subscriptions')).body).toMatchObject({
    total: 1,
    subscriptions: [{ topic_id: open.id }],
  });
  expect((await owner.get(`/api/topics/${closed.name}`)).body.subscriber_count).toBe(1);
  expect((await owner.get(`/api/topics/${open.name}`)).body.subscriber_count).toBe(2);
});

test('topic tokens and invites depend on the current right of their creator', async () => {
  const { member, id, closed } = await crew();
  const { token } = (
    await member.post(`/api/topics/${closed.name}/access-tokens`, { name: 't', permissions: ['write'] })
  ).body;
  const invited = await stack.person();
  await member.post(`/api/teams/${id}/invites`, { email: invited.email, role: 'member' });
  const inviteToken = (await mailedLink(invited.email, 'team-invite')).hash.slice('#token='.length);
  expect((await stack.caller({ 'X-Topic-Token': token }).publish(closed.name)).status).toBe(200);
  // A demotion that removes neither, as by an earlier version.
  const admin = await findMember(store.documents(), id, member.id);
  await store.documents().update(teamMembers, admin!, { role: 'member' });
  expect((await invited.post('/api/teams/invites/accept', { token: inviteToken })).status).toBe(400);
  await eventually(async () => {
    expect((await stack.caller({ 'X-Topic-Token': token }).publish(closed.name)).status).toBe(401);
  });
});
