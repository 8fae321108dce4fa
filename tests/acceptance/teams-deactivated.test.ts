import { expect, test } from '@jest/globals';
import { newRegistration } from '../support/registration.ts';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const operator = () => stack.operator();

async function crew() {
  const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const id = await stack.team(owner, [[member, 'member']]);
  return { owner, member, id, topic: await createTopic(owner, { team_id: id, access_level: 'private' }) };
}

test("a team works while it is active, also after its owner's tier lapsed", async () => {
  const { owner, member, id, topic } = await crew();
  await operator().put(`/admin/users/${owner.email}/tier`, { tier: 'FREE' });
  expect((await member.publish(topic.name)).status).toBe(200);
  expect(
    (await owner.post(`/api/teams/${id}/invites`, { email: newRegistration().email, role: 'member' })).status,
  ).toBe(201);
  expect((await owner.post('/api/topics', { name: newTopicName(), team_id: id })).status).toBe(201);
  expect((await owner.patch(`/api/teams/${id}`, { description: 'still here' })).status).toBe(200);
});
