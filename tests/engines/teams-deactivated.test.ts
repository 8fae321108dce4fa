import { insertTeam } from '../support/arrange-by-store.ts';
import { expect, test } from '@jest/globals';
import { setTeamActive } from '@tocsin/shared/operations/teams/set-team-active.ts';
import { testAudit } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { mailedLink } from '../support/mailbox.ts';
import { openStream } from '../support/open-stream.ts';
import { newRegistration } from '../support/registration.ts';
import { createTopic, newTopicName } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const deactivated = { status: 403, body: { detail: 'Team is deactivated' } };
const operator = () => stack.operator();

/** Deactivates the team like the retention service; nodes without the notification notice within 5 s. */
const deactivate = (teamId: string) =>
  setTeamActive(store.documents(), teamId, { isActive: false, now: Date.now() }, testAudit);

async function crew() {
  const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
  const id = await stack.team(owner, [[member, 'member']]);
  return { owner, member, id, topic: await createTopic(owner, { team_id: id, access_level: 'private' }) };
}

/** Waits until every node refuses publishes, within the publisher's rate limit. */
async function refused(person: Person, topic: { name: string }): Promise<void> {
  await eventually(
    async () => {
      for (const node of [0, 1])
        expect(await person.client.call('POST', `/${topic.name}`, { text: 'x', node })).toMatchObject(deactivated);
    },
    { intervalMs: 500 },
  );
}

test('a deactivated team cannot publish, invite, accept members or create topics; reading and streams continue', async () => {
  const { owner, member, id, topic } = await crew();
  const invitee = await stack.person();
  const made = (await owner.post(`/api/teams/${id}/invites`, { email: invitee.email, role: 'member' })).body;
  const token = (await mailedLink(invitee.email, 'team-invite')).hash.slice('#token='.length);
  expect((await member.publish(topic.name, 'before')).status).toBe(200);
  const stream = await openStream(`/${topic.name}/ws?token=${member.client.token}`);
  let isOpen = true;
  void stream.code.then(() => (isOpen = false));
  await deactivate(id);
  await refused(owner, topic);
  expect(
    await owner.post(`/api/teams/${id}/invites`, { email: newRegistration().email, role: 'member' }),
  ).toMatchObject(deactivated);
  expect(await owner.post(`/api/teams/invites/${made.id}/resend`)).toMatchObject(deactivated);
  expect(await invitee.post('/api/teams/invites/accept', { token })).toMatchObject(deactivated);
  expect(await owner.post('/api/topics', { name: newTopicName(), team_id: id })).toMatchObject(deactivated);
  expect((await member.get(`/${topic.name}/json`)).body.messages[0].message).toBe('before');
  expect((await member.get(`/api/teams/${id}`)).body).toMatchObject({ is_active: false, member_count: 2 });
  expect((await member.get('/api/teams')).body).toMatchObject([{ id, is_active: false }]);
  expect((await owner.get(`/api/teams/${id}/invites`)).body).toMatchObject([{ id: made.id }]);
  expect(isOpen).toBe(true);

  expect(await owner.post(`/api/teams/${id}/reactivate`)).toMatchObject({
    status: 200,
    body: { id, is_active: true, my_role: 'owner', member_count: 2 },
  });
  expect((await member.publish(topic.name)).status).toBe(200);
  expect(await invitee.post('/api/teams/invites/accept', { token })).toMatchObject({
    status: 200,
    body: { member_count: 3 },
  });
});

test('refuses the team before reading the body', async () => {
  const { owner, id } = await crew();
  await deactivate(id);
  expect(await owner.post(`/api/teams/${id}/invites`, {})).toMatchObject(deactivated);
});

test('the owner lists deactivated teams with the time of their removal', async () => {
  const { owner, member, id } = await crew();
  await stack.team(owner);
  expect((await owner.get('/api/teams/deactivated')).body).toEqual([]);
  await deactivate(id);
  const { status, body } = await owner.get('/api/teams/deactivated');
  expect(status).toBe(200);
  const [team] = (await owner.get('/api/teams')).body.filter((one: { id: string }) => one.id === id);
  expect(body).toEqual([{ ...team, deactivated_at: expect.any(String), removal_at: expect.any(String) }]);
  expect(Date.parse(body[0].removal_at) - Date.parse(body[0].deactivated_at)).toBe(60 * 86_400_000);
  expect((await member.get('/api/teams/deactivated')).body).toEqual([]);
  expect((await stack.caller().get('/api/teams/deactivated')).status).toBe(401);
});

test('only the owner reactivates, with the TEAM tier; an active team does not change', async () => {
  const { owner, member, id } = await crew();
  const before = (await owner.get(`/api/teams/${id}`)).body.updated_at;
  expect(await owner.post(`/api/teams/${id}/reactivate`)).toMatchObject({
    status: 200,
    body: { is_active: true, updated_at: before },
  });
  await deactivate(id);
  expect(await member.post(`/api/teams/${id}/reactivate`)).toMatchObject({
    status: 403,
    body: { detail: 'Insufficient permissions' },
  });
  await operator().put(`/admin/users/${owner.email}/tier`, { tier: 'ESSENTIALS' });
  expect(await owner.post(`/api/teams/${id}/reactivate`)).toMatchObject({
    status: 403,
    body: { detail: 'Requires the TEAM tier or higher' },
  });
  await operator().put(`/admin/users/${owner.email}/tier`, { tier: 'TEAM' });
  expect((await owner.get(`/api/teams/${id}`)).body.is_active).toBe(false);
  expect((await owner.post(`/api/teams/${id}/reactivate`)).status).toBe(200);
});

test('a deactivated team can be changed, left and deleted', async () => {
  const { owner, member, id, topic } = await crew();
  await deactivate(id);
  expect((await owner.patch(`/api/teams/${id}`, { description: 'closed' })).status).toBe(200);
  expect((await member.delete(`/api/teams/${id}/members/${member.id}`)).status).toBe(204);
  expect((await owner.delete(`/api/teams/${id}`)).status).toBe(204);
  expect((await owner.publish(topic.name)).status).toBe(200);
});

test('refuses topics for a deactivated team', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const team_id = await insertTeam(store.documents(), owner, { isActive: false });
  expect(await owner.post('/api/topics', { name: newTopicName(), team_id })).toMatchObject({
    status: 403,
    body: { detail: 'Team is deactivated' },
  });
});
