import { insertMember, insertTeam } from '../support/arrange-by-store.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { write } from '@tocsin/shared/ports/documents.ts';
import { teamMembers } from '@tocsin/shared/collections/teams.ts';
import { newMember } from '@tocsin/shared/testing/builders.ts';
import { mailedLink } from '../support/mailbox.ts';
import { newRegistration } from '../support/registration.ts';
import { useStack, type Caller, type Person } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const full = { status: 403, body: { detail: 'Team is full' } };
const operator = () => stack.operator();
const stats = async (caller: Caller) => (await caller.get('/api/teams/stats')).body;
const invite = (owner: Caller, teamId: string, email: string) =>
  owner.post(`/api/teams/${teamId}/invites`, { email, role: 'member' });

/** Fills the team with members without accounts. */
async function fill(teamId: string, ids: readonly string[]): Promise<void> {
  await store.documents().commit(ids.map((userId) => write.insert(teamMembers, newMember(teamId, userId))));
}

const nobodies = (count: number) => Array.from({ length: count }, () => randomUUID());

async function invited(owner: Person, teamId: string) {
  const person = await stack.person();
  expect((await invite(owner, teamId, person.email)).status).toBe(201);
  const { hash } = await mailedLink(person.email, 'team-invite');
  return {
    person,
    accept: (node = 0) =>
      person.client.call('POST', '/api/teams/invites/accept', { json: { token: hash.slice('#token='.length) }, node }),
  };
}

test('a full team can only invite people with a seat in another team of the owner', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [seated, outsider] = [await stack.person(), await stack.person()];
  const [first, second] = [await stack.team(owner, [[seated, 'member']]), await stack.team(owner)];
  await fill(first, nobodies(8));
  expect(await stats(owner)).toMatchObject({ used_members: 10, available_members: 0, percentage_used: 100 });
  for (const teamId of [first, second]) {
    expect(await invite(owner, teamId, outsider.email)).toMatchObject(full);
    expect(await invite(owner, teamId, newRegistration().email)).toMatchObject(full);
  }
  expect((await invite(owner, second, seated.email)).status).toBe(201);
  const { hash } = await mailedLink(seated.email, 'team-invite');
  expect((await seated.post('/api/teams/invites/accept', { token: hash.slice('#token='.length) })).status).toBe(200);
  expect((await stats(owner)).used_members).toBe(10);
  await operator().put(`/admin/users/${owner.email}/tier`, { tier: 'TEAM', additional_members: 1 });
  expect((await invite(owner, first, outsider.email)).status).toBe(201);
});

test('pending invites use no seat, and concurrent acceptances do not exceed the seats', async () => {
  const owner = await stack.person({ tier: 'TEAM' });
  const [first, second] = [await stack.team(owner), await stack.team(owner)];
  await fill(first, nobodies(7));
  const all = [
    await invited(owner, first),
    await invited(owner, second),
    await invited(owner, first),
    await invited(owner, second),
  ];
  const answers = await Promise.all(all.map(({ accept }, node) => accept(node)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 403, 403]);
  expect(answers.find(({ status }) => status === 403)).toMatchObject(full);
  expect((await stats(owner)).used_members).toBe(10);
  const member = all[answers.findIndex(({ status }) => status === 200)]!.person;
  const left = all[answers.findIndex(({ status }) => status === 403)]!;
  const [{ id }] = (await member.get('/api/teams')).body;
  expect((await owner.delete(`/api/teams/${id}/members/${member.id}`)).status).toBe(204);
  expect((await left.accept()).status).toBe(200);
});

test('a person counts once over all active teams of an owner, and members of deactivated teams do not count', async () => {
  const [owner, other] = [await stack.person({ tier: 'TEAM' }), await stack.person({ tier: 'TEAM' })];
  const [both, one, two] = [await stack.person(), await stack.person(), await stack.person()];
  await stack.team(owner, [
    [both, 'member'],
    [one, 'member'],
  ]);
  await stack.team(owner, [
    [both, 'admin'],
    [other, 'member'],
  ]);
  const inactive = await insertTeam(store.documents(), owner, { isActive: false });
  await insertMember(store.documents(), inactive, two, 'member');
  await stack.team(other, [
    [two, 'member'],
    [owner, 'member'],
  ]);
  expect((await stats(owner)).used_members).toBe(4);
  expect((await stats(other)).used_members).toBe(3);
});
