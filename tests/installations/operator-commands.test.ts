import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { logIn, newRegistration, tryLogIn } from '../support/registration.ts';
import { printedBy, runCommand } from '../support/run-command.ts';
import { Client, createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();
const operator = stack.caller({ Authorization: `Bearer ${testStack().env['ADMIN_TOKEN']!}` });
const setTier = async (email: string, tier: string) =>
  expect((await operator.put(`/admin/users/${email}/tier`, { tier })).status).toBe(200);

/** Runs `tocsin user …` next to the running stack. */
const user = (args: readonly string[], input = '') => runCommand(['user', ...args], input);

/** A node that missed the notification of the command notices within 5 seconds. */
const soon = { timeoutMs: 6_000 };
/** Each test starts several processes, which take many seconds each on a busy machine. */
const slow = 180_000;

test('an account created by the operator can log in immediately with the printed password', async () => {
  const { email, username } = newRegistration();
  const made = await user(['create', email.toUpperCase(), '--username', username, '--json']);
  expect(made).toMatchObject({ code: 0, error: '' });
  const shown = JSON.parse(made.out) as { password: string };
  expect(shown).toMatchObject({ email, username, is_verified: true, is_active: true, subscription_tier: 'FREE' });
  const { client } = await logIn({ email, password: shown.password });
  expect((await client.call('GET', '/auth/me')).body).toMatchObject({ email, username, terms_accepted_at: null });
});

test('reads a password from standard input and does not print it', async () => {
  const { email, username, password } = newRegistration();
  const made = await user(['create', email, '--username', username, '--password-stdin'], `${password}\n`);
  expect(made.code).toBe(0);
  expect(made.out).not.toContain(password);
  await logIn({ email, password });
});

test(
  'exits with 1 for taken values and with 2 for invalid ones, with an explanation',
  async () => {
    const account = await stack.person();
    const { email, username } = newRegistration();
    expect(await user(['create', account.email, '--username', username])).toEqual({
      code: 1,
      out: '',
      error: 'Email already registered\n',
    });
    expect(await user(['create', email, '--username', account.user.username])).toEqual({
      code: 1,
      out: '',
      error: 'Username already taken\n',
    });
    expect(await user(['create', email, '--username', username, '--password', 'short'])).toMatchObject({
      code: 2,
      out: '',
      error: expect.stringContaining('at least 8 characters'),
    });
    expect(await user(['create', email, '--username', username, '--password-stdin'], 'short')).toMatchObject({
      code: 2,
      out: '',
      error: expect.stringContaining('at least 8 characters'),
    });
    expect(await user(['create', 'nobody', '--username', username])).toMatchObject({
      code: 2,
      error: expect.stringContaining('must be an email address'),
    });
    expect(await user(['set-tier', account.email, 'GOLD'])).toMatchObject({
      code: 2,
      error: expect.stringContaining('FREE, ESSENTIALS, TEAM'),
    });
    expect(await user(['set-tier', email, 'TEAM'])).toEqual({ code: 1, out: '', error: 'User not found\n' });
    expect(await user(['show', email])).toEqual({ code: 1, out: '', error: 'User not found\n' });
  },
  slow,
);

test(
  'finds, verifies, logs out and deletes an account and sets its password',
  async () => {
    const registration = newRegistration();
    expect((await new Client().call('POST', '/auth/register', { json: registration })).status).toBe(201);
    expect(await printedBy(['user', 'list', '--search', registration.username.toUpperCase()])).toMatchObject([
      { email: registration.email, is_verified: false },
    ]);

    const { id } = await printedBy(['user', 'verify', registration.email]);
    const first = await logIn(registration);
    const { body: key } = await first.client.call('POST', '/api/keys', { json: { name: 'goes on' } });

    const password = 'what the operator said';
    expect(
      await printedBy(['user', 'set-password', registration.email, '--password-stdin'], `${password}\n`),
    ).not.toHaveProperty('password');
    await eventually(async () => expect((await first.client.call('GET', '/auth/me')).status).toBe(401), soon);
    expect((await tryLogIn(registration)).status).toBe(401);
    const second = await logIn({ email: registration.email, password });

    await printedBy(['user', 'end-logins', registration.email]);
    await eventually(async () => expect((await second.client.call('GET', '/auth/me')).status).toBe(401), soon);
    expect((await new Client(key.key).call('GET', '/auth/me')).status).toBe(200);

    expect(await user(['delete', registration.email])).toEqual({
      code: 2,
      out: '',
      error: 'error: this cannot be undone: add --yes\n',
    });
    await printedBy(['user', 'delete', registration.email, '--yes']);
    const {
      body: { entries },
    } = await operator.get(`/admin/audit?subject=${id}&actor=operator`);
    expect(entries).toMatchObject(
      ['account.deleted', 'account.logins_ended', 'password.set', 'account.verified'].map((action) => ({
        action,
        actor: { type: 'operator', through: 'cli' },
        origin: { user_agent: expect.stringMatching(/^tocsin, run by ./) },
        subject: { type: 'account', id },
      })),
    );
    await eventually(async () => expect((await new Client(key.key).call('GET', '/auth/me')).status).toBe(401), soon);
    expect((await new Client().call('POST', '/auth/register', { json: registration })).status).toBe(201);
  },
  slow,
);

test(
  "lists an account's topics, shows their contents, and deletes them unless under legal hold",
  async () => {
    const owner = await stack.person({ tier: 'TEAM' });
    const [kept, gone] = [await createTopic(owner, { description: 'pumps\u001b[2J' }), await createTopic(owner)];
    await owner.publish(kept.name);
    expect((await operator.put(`/admin/topics/${kept.name}/hold`)).status).toBe(200);
    expect(await printedBy(['topic', 'list', '--owner', owner.user.username])).toMatchObject([
      { id: kept.id, name: kept.name, owner: owner.email, message_count: 1, legal_hold: true },
      { id: gone.id, message_count: 0, legal_hold: false },
    ]);
    // User text cannot control the operator's terminal.
    expect((await runCommand(['topic', 'show', kept.name.toUpperCase()])).out).toContain(
      'description: pumps\ufffd[2J\n',
    );
    expect(await runCommand(['topic', 'delete', kept.name, '--yes'])).toEqual({
      code: 1,
      out: '',
      error: 'Topic is under legal hold\n',
    });
    await printedBy(['topic', 'delete', gone.name, '--yes']);
    await eventually(async () => expect((await owner.get(`/api/topics/${gone.name}`)).status).toBe(404), soon);
  },
  slow,
);

test(
  'shows a team with its members, deactivates it, reactivates it under its owner’s tier, and deletes it',
  async () => {
    const [owner, member] = [await stack.person({ tier: 'TEAM' }), await stack.person()];
    const name = `t-${randomUUID().slice(0, 8)}`;
    const { body: team } = await owner.post('/api/teams', { name, display_name: 'Pumps' });
    await stack.join(team.id, owner, [member, 'member']);
    const topic = await createTopic(owner, { team_id: team.id });
    expect(await printedBy(['team', 'list', '--owner', owner.email])).toMatchObject([
      { id: team.id, name, owner: owner.email, member_count: 2, removal_at: null },
    ]);
    expect(await printedBy(['team', 'members', name])).toMatchObject([
      { email: member.email, role: 'member' },
      { email: owner.email, role: 'owner' },
    ]);

    expect(await printedBy(['team', 'deactivate', team.id])).toMatchObject({
      is_active: false,
      removal_at: expect.stringMatching(/Z$/),
    });
    await eventually(
      async () =>
        expect(await owner.publish(topic.name)).toMatchObject({ status: 403, body: { detail: 'Team is deactivated' } }),
      soon,
    );
    await setTier(owner.email, 'FREE');
    expect(await runCommand(['team', 'reactivate', name])).toMatchObject({
      code: 1,
      error: expect.stringContaining('is below the TEAM tier'),
    });
    await setTier(owner.email, 'TEAM');
    expect(await printedBy(['team', 'reactivate', name])).toMatchObject({ is_active: true, removal_at: null });
    await eventually(async () => expect((await owner.publish(topic.name)).status).toBe(200), soon);

    await printedBy(['team', 'delete', name, '--yes']);
    await eventually(
      async () =>
        expect((await owner.get(`/api/topics/${topic.name}`)).body).toMatchObject({
          team_id: null,
          access_level: 'private',
        }),
      soon,
    );
  },
  slow,
);

test(
  'creates a key for an account, finds it by its secret, revokes, enables and deletes it',
  async () => {
    const owner = await stack.person();
    const made = await printedBy(['key', 'create', owner.email, '--name', 'ci', '--scopes', 'account:read']);
    expect(made).toMatchObject({ name: 'ci', scopes: ['account:read'], is_valid: true });
    const client = new Client(made.key);
    expect((await client.call('GET', '/api/users/me')).body).toMatchObject({ email: owner.email });
    expect((await client.call('GET', '/api/keys')).status).toBe(403);
    const { key: _, ...shown } = made;
    expect(await printedBy(['key', 'list', owner.user.username])).toMatchObject([
      { id: made.id, key_prefix: made.key.slice(0, 12) },
    ]);
    expect(await printedBy(['key', 'find'], `${made.key}\n`)).toMatchObject({ id: shown.id, owner: owner.email });
    expect(await runCommand(['key', 'find'], 'x'.repeat(2 ** 20 + 1))).toEqual({
      code: 1,
      out: '',
      error: 'Standard input exceeds 1048576 bytes\n',
    });

    expect(await printedBy(['key', 'revoke', made.id])).toMatchObject({ is_active: false, is_valid: false });
    await eventually(async () => expect((await client.call('GET', '/api/users/me')).status).toBe(401), soon);
    expect(await printedBy(['key', 'enable', made.id])).toMatchObject({ is_valid: true });
    await printedBy(['key', 'delete', made.id, '--yes']);
    await eventually(async () => expect((await client.call('GET', '/api/users/me')).status).toBe(401), soon);
    expect(await runCommand(['key', 'show', made.id])).toEqual({ code: 1, out: '', error: 'API key not found\n' });
  },
  slow,
);
