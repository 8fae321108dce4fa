import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { logIn, newRegistration } from '../support/registration.ts';
import { runCommand } from '../support/run-command.ts';
import { createAccount, openStackDocuments } from '../support/stack.ts';

let store: OperatorStore;
beforeAll(async () => {
  store = await openStackDocuments();
});
afterAll(() => store.close());

/** Runs `tocsin user …` next to the running stack. */
const user = (args: readonly string[], input = '') => runCommand(['user', ...args], input);

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

test('exits with 1 for taken values and with 2 for invalid ones, with an explanation', async () => {
  const account = await createAccount(store);
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
}, 180_000); // eight processes, each of which may take many seconds to start on a busy machine

test('a new tier applies on every node within 5 seconds', async () => {
  const account = await createAccount(store);
  const end = new Date(Date.now() + 86_400_000).toISOString();
  const set = await user(['set-tier', account.email, 'team', '--expires', end, '--additional-members', '3', '--json']);
  expect(set.code).toBe(0);
  expect(JSON.parse(set.out)).toMatchObject({
    subscription_tier: 'TEAM',
    subscription_expires_at: end,
    additional_members: 3,
  });
  for (const node of [0, 1]) {
    await eventually(
      async () => {
        const { headers } = await account.client.call('GET', '/auth/me', { node });
        expect(headers.get('x-ratelimit-limit')).toBe('100');
      },
      { timeoutMs: 5_500 },
    );
  }
  const cleared = await user(['set-tier', account.email, 'TEAM', '--expires', 'never', '--json']);
  expect(JSON.parse(cleared.out)).toMatchObject({ subscription_expires_at: null, additional_members: 3 });
});

test('a disabled account cannot be used until it is enabled', async () => {
  const account = await createAccount(store);
  expect((await user(['disable', account.email])).code).toBe(0);
  await eventually(async () => expect((await account.client.call('GET', '/auth/me')).status).toBe(401), {
    timeoutMs: 5_500,
  });
  const shown = await user(['show', account.email, '--json']);
  expect(JSON.parse(shown.out)).toMatchObject({ id: account.user.id, is_active: false });
  expect((await user(['enable', account.email])).code).toBe(0);
  await eventually(async () => expect((await account.client.call('GET', '/auth/me')).status).toBe(200), {
    timeoutMs: 5_500,
  });
});
