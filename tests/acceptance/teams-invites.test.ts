import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { inviteKeptMs } from '@tocsin/shared/domain/teams/team.ts';
import { write } from '@tocsin/shared/ports/documents.ts';
import { teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { mailedLink, mailsTo } from '../support/mailbox.ts';
import { newRegistration } from '../support/registration.ts';
import { useStack, type Caller, type Person } from '../support/use-stack.ts';

const stack = useStack();
const dayMs = 86_400_000;
const forbidden = { status: 403, body: { detail: 'Insufficient permissions' } };
const unknownToken = { status: 400, body: { detail: 'Invalid or used token' } };

async function ownedTeam() {
  const owner = await stack.person({ tier: 'TEAM' });
  return { owner, id: await stack.team(owner) };
}

const invite = (caller: Caller, teamId: string, email: string, role = 'member') =>
  caller.post(`/api/teams/${teamId}/invites`, { email, role });
const accept = (caller: Caller, token: string) => caller.post('/api/teams/invites/accept', { token });
const list = async (caller: Caller, teamId: string) => (await caller.get(`/api/teams/${teamId}/invites`)).body;

/** The token of the count-th invitation that was mailed to the address. */
async function mailedToken(email: string, count = 1): Promise<string> {
  return (await mailedLink(email, 'team-invite', count)).hash.slice('#token='.length);
}

/** Moves the end of an invite. */
async function expireAt(inviteId: string, expiresAt: number): Promise<void> {
  const found = (await stack.documents().get(teamInvites, inviteId))!;
  await stack.documents().update(teamInvites, found, { expiresAt });
}

test('an invited address gets a mail whose link takes its account into the team, once', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  const made = await invite(owner, id, person.email.toUpperCase(), 'admin');
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    id: expect.any(String),
    team_id: id,
    email: person.email,
    role: 'admin',
    invited_by_id: owner.id,
    created_at: expect.any(String),
    expires_at: expect.any(String),
    is_expired: false,
  });
  expect(Date.parse(made.body.expires_at) - Date.parse(made.body.created_at)).toBe(7 * dayMs);
  expect(await list(owner, id)).toEqual([made.body]);

  const link = await mailedLink(person.email, 'team-invite');
  expect([link.pathname, link.search]).toEqual(['/auth/accept-invite', '']);
  const token = link.hash.slice('#token='.length);
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(await accept(person, token)).toMatchObject({
    status: 200,
    body: { id, my_role: 'admin', member_count: 2, owner_id: owner.id, is_active: true },
  });
  expect(
    (await person.get(`/api/teams/${id}`)).body.members.map(({ user_id }: { user_id: string }) => user_id),
  ).toEqual([person.id, owner.id]);
  expect(await accept(person, token)).toMatchObject(unknownToken);
  expect(await list(owner, id)).toEqual([]);
});

test('the stored invite holds a hash, and no answer the token', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  const made = await invite(owner, id, person.email);
  const token = await mailedToken(person.email);
  const stored = JSON.stringify(await stack.documents().get(teamInvites, made.body.id));
  expect(stored).toMatch(/"tokenHash":"[0-9a-f]{64}"/);
  expect(stored + JSON.stringify(made.body) + JSON.stringify(await list(owner, id))).not.toContain(token);
});

test('an address without an account is invited too, and joins when it has made one', async () => {
  const { owner, id } = await ownedTeam();
  const { email } = newRegistration();
  await invite(owner, id, email);
  const token = await mailedToken(email);
  const person = await stack.person();
  expect(await accept(person, token)).toMatchObject({ status: 403 });
  await stack.readdress(person, email);
  expect((await accept(person, token)).status).toBe(200);
});

test('an invite is for one address: another account is a 403, one that has not verified it as well', async () => {
  const { owner, id } = await ownedTeam();
  const [invited, other] = [await stack.person(), await stack.person()];
  await invite(owner, id, invited.email);
  const token = await mailedToken(invited.email);
  expect((await accept(other, token)).status).toBe(403);
  const { email } = newRegistration();
  const claimed = await invite(owner, id, email);
  expect(claimed.status).toBe(201);
  expect((await other.patch('/api/users/me', { email })).status).toBe(200);
  expect(await accept(other, await mailedToken(email))).toMatchObject({
    status: 403,
    body: { detail: 'Email not verified' },
  });
  expect((await accept(invited, token)).status).toBe(200);
});

test.each([['nonsense'], ['']])('a token of "%s" is nobody\'s', async (token) => {
  expect(await accept(await stack.person(), token)).toMatchObject(unknownToken);
});

test('accepting takes a login or a key, and a token', async () => {
  const person = await stack.person();
  expect((await accept(stack.caller(), 'x')).status).toBe(401);
  expect(await person.post('/api/teams/invites/accept', {})).toMatchObject({
    status: 422,
    body: { detail: 'token: is required' },
  });
  const { key } = (await person.post('/api/keys', { name: 'k', scopes: ['account:read'] })).body;
  expect(await accept(stack.caller({ 'X-API-Key': key }), 'x')).toMatchObject({
    status: 403,
    body: { detail: 'Missing scope: account:write' },
  });
});

test('of two acceptances at once one counts', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  await invite(owner, id, person.email);
  const token = await mailedToken(person.email);
  const answers = await Promise.all(
    [0, 1, 2].map((node) => person.client.call('POST', '/api/teams/invites/accept', { json: { token }, node })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  expect((await owner.get(`/api/teams/${id}`)).body.member_count).toBe(2);
});

test.each([
  [{}, 'email: is required; role: is required'],
  [{ email: 'no address', role: 'member' }, 'email: must be an email address of at most 254 characters'],
  [{ email: 'a@example.org', role: 'owner' }, 'role: must be one of admin, member'],
  [{ email: 'a@example.org' }, 'role: is required'],
])('an invite of %j is refused', async (body, detail) => {
  const { owner, id } = await ownedTeam();
  expect(await owner.post(`/api/teams/${id}/invites`, body)).toMatchObject({ status: 422, body: { detail } });
});

test('members and pending addresses cannot be invited again', async () => {
  const { owner, id } = await ownedTeam();
  const [member, person] = [await stack.person(), await stack.person()];
  await stack.join(id, member, 'member');
  for (const { email } of [member, owner])
    expect(await invite(owner, id, email)).toMatchObject({ status: 409, body: { detail: 'Already a member' } });
  const made = await Promise.all(
    [0, 1, 2].map((node) =>
      owner.client.call('POST', `/api/teams/${id}/invites`, { json: { email: person.email, role: 'member' }, node }),
    ),
  );
  expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  expect(await invite(owner, id, person.email.toUpperCase())).toMatchObject({
    status: 409,
    body: { detail: 'Already invited' },
  });
  const another = await stack.team(owner);
  expect((await invite(owner, another, person.email)).status).toBe(201);
});

test('somebody who has become a member otherwise cannot accept any more', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  await invite(owner, id, person.email);
  const token = await mailedToken(person.email);
  await stack.join(id, person, 'member');
  expect(await accept(person, token)).toMatchObject({ status: 409, body: { detail: 'Already a member' } });
});

test('a resend mails a new link with 7 new days, and voids the former one', async () => {
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

test('beyond five mails an hour a resend answers the same, and the last link stays good', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  const made = (await invite(owner, id, person.email)).body;
  for (let count = 2; count <= 5; count++) {
    await mailedToken(person.email, count - 1);
    expect((await owner.post(`/api/teams/invites/${made.id}/resend`)).status).toBe(204);
  }
  const last = await mailedToken(person.email, 5);
  expect((await owner.post(`/api/teams/invites/${made.id}/resend`)).status).toBe(204);
  expect((await accept(person, last)).status).toBe(200);
  expect((await mailsTo(person.email, 'team-invite')).length).toBe(5);
});

test('a cancelled invite is gone, and its link void', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  const made = (await invite(owner, id, person.email)).body;
  const token = await mailedToken(person.email);
  expect((await owner.delete(`/api/teams/invites/${made.id}`)).status).toBe(204);
  expect(await accept(person, token)).toMatchObject(unknownToken);
  expect(await list(owner, id)).toEqual([]);
  for (const gone of [
    await owner.delete(`/api/teams/invites/${made.id}`),
    await owner.post(`/api/teams/invites/${made.id}/resend`),
  ]) {
    expect(gone).toMatchObject({ status: 404, body: { detail: 'Invite not found' } });
  }
  expect((await invite(owner, id, person.email)).status).toBe(201);
});

test('an expired invite says so, is listed for 7 days, and can be resent or replaced', async () => {
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

test('7 days after its end an invite is no longer there', async () => {
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

test("invites are the managers' matter: members get a 403, outsiders a 404", async () => {
  const { owner, id } = await ownedTeam();
  const [admin, member, outsider] = [await stack.person(), await stack.person(), await stack.person({ tier: 'TEAM' })];
  await stack.join(id, admin, 'admin');
  await stack.join(id, member, 'member');
  const made = (await invite(owner, id, newRegistration().email)).body;
  const [resend, cancel] = [
    (caller: Person | Caller) => caller.post(`/api/teams/invites/${made.id}/resend`),
    (caller: Person | Caller) => caller.delete(`/api/teams/invites/${made.id}`),
  ];
  for (const act of [resend, cancel]) {
    expect(await act(member)).toMatchObject(forbidden);
    expect(await act(outsider)).toMatchObject({ status: 404, body: { detail: 'Invite not found' } });
    expect((await act(stack.caller())).status).toBe(401);
  }
  for (const person of [member, outsider])
    expect(await invite(person, id, newRegistration().email)).toMatchObject(forbidden);
  expect((await invite(admin, id, newRegistration().email)).body.invited_by_id).toBe(admin.id);
  expect((await resend(admin)).status).toBe(204);
  expect((await cancel(admin)).status).toBe(204);
  expect(await admin.delete('/api/teams/invites/7')).toMatchObject({
    status: 422,
    body: { detail: 'invite_id: must be a UUID' },
  });
});

test('an invite stays when the one who made it leaves the team', async () => {
  const { owner, id } = await ownedTeam();
  const [admin, person] = [await stack.person(), await stack.person()];
  await stack.join(id, admin, 'admin');
  await invite(admin, id, person.email);
  const token = await mailedToken(person.email);
  expect((await owner.delete(`/api/teams/${id}/members/${admin.id}`)).status).toBe(204);
  expect((await accept(person, token)).status).toBe(200);
});

test('a team has at most 100 pending invites, and an expired one can still be replaced', async () => {
  const { owner, id } = await ownedTeam();
  const now = Date.now();
  const old = newRegistration().email;
  await stack.documents().commit(
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

test('a name cannot put anything into the mail but text', async () => {
  const { owner, id } = await ownedTeam();
  const person = await stack.person();
  const evil = 'Crew\r\nBcc: victim@example.org\r\n\r\n<b>x</b>';
  expect((await owner.patch(`/api/teams/${id}`, { display_name: evil })).status).toBe(200);
  await invite(owner, id, person.email);
  const [mail] = await eventually(async () => {
    const mails = await mailsTo(person.email, 'team-invite');
    expect(mails.length).toBe(1);
    return mails;
  });
  const head = mail!.slice(0, mail!.indexOf('\r\n\r\n'));
  expect(head).not.toMatch(/^Bcc:/im);
  expect(mail).not.toContain('<b>x</b></p>');
});
