import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createTopic } from '../support/stack.ts';
import { useStack, type Person } from '../support/use-stack.ts';

const stack = useStack();
const forbidden = { status: 403, body: { detail: 'Insufficient permissions' } };

async function crew() {
  const [owner, admin, member] = [await stack.person({ tier: 'TEAM' }), await stack.person(), await stack.person()];
  const id = await stack.team(owner, [
    [admin, 'admin'],
    [member, 'member'],
  ]);
  return { owner, admin, member, id, of: (person: { id: string }) => `/api/teams/${id}/members/${person.id}` };
}

test('admins promote, demote and remove members and admins', async () => {
  const { owner, admin, member, id, of } = await crew();
  expect(await admin.patch(of(member), { role: 'admin' })).toMatchObject({
    status: 200,
    body: {
      team_id: id,
      user_id: member.id,
      username: member.user.username,
      email: member.email,
      role: 'admin',
      is_active: true,
    },
  });
  expect(await member.patch(of(admin), { role: 'member' })).toMatchObject({ status: 200, body: { role: 'member' } });
  expect(await admin.patch(of(member), { role: 'member' })).toMatchObject(forbidden);
  expect((await member.delete(of(admin))).status).toBe(204);
  expect(await admin.get(`/api/teams/${id}`)).toMatchObject(forbidden);
  expect(await member.delete(of(admin))).toMatchObject({ status: 404, body: { detail: 'Member not found' } });
  expect((await member.get(`/api/teams/${id}`)).body).toMatchObject({ member_count: 2, my_role: 'admin' });
  expect((await owner.delete(of(member))).status).toBe(204);
  expect(await member.get(`/api/teams/${id}`)).toMatchObject(forbidden);
});

test('members can only remove themselves', async () => {
  const { owner, admin, member, of } = await crew();
  for (const refused of [
    await member.patch(of(admin), { role: 'member' }),
    await member.patch(of(member), { role: 'admin' }),
    await member.delete(of(admin)),
  ]) {
    expect(refused).toMatchObject(forbidden);
  }
  expect((await member.delete(of(member))).status).toBe(204);
  expect((await member.get('/api/teams')).body).toEqual([]);
  expect((await owner.get(`/api/teams`)).body[0].member_count).toBe(2);
});

test('the owner cannot be removed or demoted', async () => {
  const { owner, admin, member, of } = await crew();
  for (const person of [owner, admin]) {
    expect(await person.patch(of(owner), { role: 'member' })).toMatchObject({ status: 400 });
    expect(await person.delete(of(owner))).toMatchObject({ status: 400 });
  }
  expect(await member.delete(of(owner))).toMatchObject(forbidden);
  expect((await owner.get('/api/teams')).body[0]).toMatchObject({ my_role: 'owner', member_count: 3 });
});

test.each([[{ role: 'owner' }], [{ role: 'boss' }], [{ role: null }], [{ role: 7 }]])(
  'refuses the role %j',
  async (body) => {
    const { owner, member, of } = await crew();
    expect(await owner.patch(of(member), body)).toMatchObject({
      status: 422,
      body: { detail: expect.stringMatching(/^role: /) },
    });
  },
);

test('an empty change has no effect', async () => {
  const { owner, member, of } = await crew();
  expect(await owner.patch(of(member), {})).toMatchObject({ status: 200, body: { role: 'member' } });
});

test('returns 404 for an account outside the team and 422 for a malformed ID', async () => {
  const { owner, of, id } = await crew();
  const outsider = await stack.person();
  for (const answer of [
    await owner.patch(of(outsider), { role: 'admin' }),
    await owner.delete(of({ id: randomUUID() })),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { detail: 'Member not found' } });
  }
  expect(await owner.delete(`/api/teams/${id}/members/7`)).toMatchObject({
    status: 422,
    body: { detail: 'user_id: must be a UUID' },
  });
  expect(await outsider.delete(of(outsider))).toMatchObject(forbidden);
  expect(await owner.delete(`/api/teams/${randomUUID()}/members/${outsider.id}`)).toMatchObject({
    status: 404,
    body: { detail: 'Team not found' },
  });
});

test('members see the list of members, newest first', async () => {
  const { owner, admin, member, id } = await crew();
  await stack.join(id, owner, [await stack.person(), 'member']);
  const { body } = await member.get(`/api/teams/${id}/members`);
  expect(body.length).toBe(4);
  expect(body.map(({ joined_at }: { joined_at: string }) => joined_at)).toEqual(
    body
      .map(({ joined_at }: { joined_at: string }) => joined_at)
      .sort()
      .reverse(),
  );
  expect(new Set(body.slice(1).map(({ user_id }: { user_id: string }) => user_id))).toEqual(
    new Set([owner, admin, member].map((person) => person.id)),
  );
});

test('role changes apply immediately to the management of topics', async () => {
  const { owner, member, of, id } = await crew();
  const topic = await createTopic(owner, { team_id: id });
  const change = (person: Person) => person.patch(`/api/topics/${topic.id}`, {});
  expect((await change(member)).status).toBe(403);
  await owner.patch(of(member), { role: 'admin' });
  expect((await change(member)).status).toBe(200);
  await owner.patch(of(member), { role: 'member' });
  expect((await change(member)).status).toBe(403);
});
