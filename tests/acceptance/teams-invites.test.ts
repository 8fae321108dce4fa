import { expect, test } from '@jest/globals';
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

/** The token in the count-th invitation email to the address. */
async function mailedToken(email: string, count = 1): Promise<string> {
  return (await mailedLink(email, 'team-invite', count)).hash.slice('#token='.length);
}

test('an invite sends an email whose link adds the account to the team, once', async () => {
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

test('an email without account can be invited and joins after registration', async () => {
  const { owner, id } = await ownedTeam();
  const { email } = newRegistration();
  await invite(owner, id, email);
  const token = await mailedToken(email);
  const person = await stack.person();
  expect(await accept(person, token)).toMatchObject({ status: 403 });
  await stack.changeEmail(person, email);
  expect((await accept(person, token)).status).toBe(200);
});

test('an invite is for one email: returns 403 for another account or an unverified email', async () => {
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

test.each([['nonsense'], ['']])('refuses the token "%s"', async (token) => {
  expect(await accept(await stack.person(), token)).toMatchObject(unknownToken);
});

test('accepting requires a login or key and a token', async () => {
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

test('concurrent acceptances add one member', async () => {
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
])('refuses an invite with %j', async (body, detail) => {
  const { owner, id } = await ownedTeam();
  expect(await owner.post(`/api/teams/${id}/invites`, body)).toMatchObject({ status: 422, body: { detail } });
});

test('members and pending addresses cannot be invited again', async () => {
  const { owner, id } = await ownedTeam();
  const [member, person] = [await stack.person(), await stack.person()];
  await stack.join(id, owner, [member, 'member']);
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

test('beyond five emails per hour a resend returns the same response, and the last link stays valid', async () => {
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

test('a cancelled invite is removed and its link is invalid', async () => {
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

test('only managers handle invites: members get 403, outsiders 404', async () => {
  const { owner, id } = await ownedTeam();
  const [admin, member, outsider] = [await stack.person(), await stack.person(), await stack.person({ tier: 'TEAM' })];
  await stack.join(id, owner, [admin, 'admin']);
  await stack.join(id, owner, [member, 'member']);
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

test('names appear in the email only as text', async () => {
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
