import { insertMember } from '../support/arrange-by-store.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { inviteKeptMs } from '@tocsin/shared/domain/teams/team.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { mailedLink } from '../support/mailbox.ts';
import { newRegistration } from '../support/registration.ts';
import { useStack, type Caller } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();
const dayMs = 86_400_000;
const unknownToken = { status: 400, body: { detail: 'Invalid or used token' } };

async function ownedTeam() {
  const owner = await stack.person({ tier: 'TEAM' });
  return { owner, id: await stack.team(owner) };
}

const invite = (caller: Caller, teamId: string, email: string, role = 'member') =>
  caller.post(`/api/teams/${teamId}/invites`, { email, role });
const accept = (caller: Caller, token: string) => caller.post('/api/teams/invites/accept', { token });
const list = async (caller: Caller, teamId: string) => (await caller.get(`/api/teams/${teamId}/invites`)).body;

/** The token in the count-th invitation email to the address. */
async function mailedToken(email: string, count = 1): Promise<string> {
  return (await mailedLink(email, 'team-invite', count)).hash.slice('#token='.length);
}

/** Changes the expiry of an invite. */
async function expireAt(inviteId: string, expiresAt: number): Promise<void> {
  const found = (await store.documents().get(teamInvites, inviteId))!;
  await store.documents().update(teamInvites, found, { expiresAt });
}

test('stores only a hash of the token and never returns it', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  const made = await invite(owner, id, person.email);
  const token = await mailedToken(person.email);
  const stored = JSON.stringify(await store.documents().get(teamInvites, made.body.id));
  expect(stored).toMatch(/"tokenHash":"[0-9a-f]{64}"/);
  expect(stored + JSON.stringify(made.body) + JSON.stringify(await list(owner, id))).not.toContain(token);
});

test('a resend sends a new link valid for 7 days and invalidates the previous one', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  const made = (await invite(owner, id, person.email)).body;
  const former = await mailedToken(person.email);
  await expireAt(made.id, Date.now() + 1_000);
  expect((await owner.post(`/api/teams/invites/${made.id}/resend`)).status).toBe(204);
  expect(await accept(person, former)).toMatchObject(unknownToken);
  const [renewed] = await list(owner, id);
  expect(renewed).toMatchObject({ id: made.id, created_at: made.created_at, is_expired: false });
  expect(Date.parse(renewed.expires_at)).toBeGreaterThan(Date.now() + 6 * dayMs);
  expect((await accept(person, await mailedToken(person.email, 2))).status).toBe(200);
  expect(await owner.post(`/api/teams/invites/${made.id}/resend`)).toMatchObject({
    status: 404,
    body: { detail: 'Invite not found' },
  });
});

test('an expired invite is reported as expired, listed for 7 days, and can be resent or replaced', async () => {
  const { owner, id } = await ownedTeam();
  const [one, two] = [await stack.person(), await stack.person()];
  const [first, second] = [(await invite(owner, id, one.email)).body, (await invite(owner, id, two.email)).body];
  const token = await mailedToken(one.email);
  await mailedToken(two.email);
  for (const made of [first, second]) await expireAt(made.id, Date.now() - 1_000);
  expect(await accept(one, token)).toMatchObject({ status: 400, body: { detail: 'Invite has expired' } });
  expect(await list(owner, id)).toMatchObject([
    { id: second.id, is_expired: true },
    { id: first.id, is_expired: true },
  ]);
  expect((await owner.post(`/api/teams/invites/${first.id}/resend`)).status).toBe(204);
  expect((await accept(one, await mailedToken(one.email, 2))).status).toBe(200);
  const replacement = await invite(owner, id, two.email, 'admin');
  expect(replacement).toMatchObject({ status: 201, body: { role: 'admin', is_expired: false } });
  expect((await list(owner, id)).map((made: { id: string }) => made.id)).toEqual([replacement.body.id]);
});

test('an invite is removed 7 days after its expiry', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  const made = (await invite(owner, id, person.email)).body;
  const token = await mailedToken(person.email);
  await expireAt(made.id, Date.now() - inviteKeptMs);
  expect(await list(owner, id)).toEqual([]);
  expect(await accept(person, token)).toMatchObject(unknownToken);
  for (const gone of [
    await owner.delete(`/api/teams/invites/${made.id}`),
    await owner.post(`/api/teams/invites/${made.id}/resend`),
  ]) {
    expect(gone).toMatchObject({ status: 404, body: { detail: 'Invite not found' } });
  }
  expect((await invite(owner, id, person.email)).status).toBe(201);
});

test('a team has at most 100 pending invites, and an expired one can still be replaced', async () => {
  const { owner, id } = await ownedTeam();
  const now = Date.now();
  const old = newRegistration().email;
  await store.documents().commit(
    Array.from({ length: 99 }, (_, at) =>
      write.insert(teamInvites, {
        id: randomUUID(),
        teamId: id,
        email: at === 0 ? old : newRegistration().email,
        role: 'member',
        invitedById: owner.id,
        tokenHash: null,
        createdAt: now,
        expiresAt: at === 0 ? now - 1 : now + dayMs,
      }),
    ),
  );
  const made = await Promise.all(
    Array.from({ length: 4 }, (_, node) =>
      owner.client.call('POST', `/api/teams/${id}/invites`, {
        json: { email: newRegistration().email, role: 'member' },
        node,
      }),
    ),
  );
  expect(made.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403]);
  expect(await invite(owner, id, newRegistration().email)).toMatchObject({
    status: 403,
    body: { detail: 'Invite limit reached' },
  });
  expect((await invite(owner, id, old)).status).toBe(201);
  expect((await list(owner, id)).length).toBe(100);
});

test('a person who joined another way cannot accept the invite', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  await invite(owner, id, person.email);
  const token = await mailedToken(person.email);
  await insertMember(store.documents(), id, person, 'member');
  expect(await accept(person, token)).toMatchObject({ status: 409, body: { detail: 'Already a member' } });
});
