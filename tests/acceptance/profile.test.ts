import { expect, test } from '@jest/globals';
import { mailedLink, mailsTo } from '../support/mailbox.ts';
import { logIn, newRegistration, open, refresh, register, tryLogIn } from '../support/registration.ts';
import { Client } from '../support/stack.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

test('a username can change, including only its case, and the old one becomes available', async () => {
  const account = await stack.person();
  const { username } = newRegistration();
  const changed = await account.client.call('PATCH', '/api/users/me', { json: { username } });
  expect(changed).toMatchObject({
    status: 200,
    body: { id: account.user.id, username, email: account.email, is_verified: true },
  });
  expect((await account.client.call('GET', '/api/users/me')).body).toEqual(changed.body);

  expect(
    (await account.client.call('PATCH', '/api/users/me', { json: { username: username.toUpperCase() } })).body.username,
  ).toBe(username.toUpperCase());
  const other = await stack.person();
  expect(
    (await other.client.call('PATCH', '/api/users/me', { json: { username: account.user.username } })).status,
  ).toBe(200);
});

test('an empty or identical change has no effect', async () => {
  const account = await stack.person();
  const before = (await account.client.call('GET', '/api/users/me')).body;
  for (const json of [{}, { email: account.email.toUpperCase(), username: account.user.username }]) {
    expect(await account.client.call('PATCH', '/api/users/me', { json })).toMatchObject({ status: 200, body: before });
  }
});

test('omitted and protected fields keep their values', async () => {
  const account = await stack.person();
  const json = {
    subscription_tier: 'TEAM',
    is_verified: false,
    is_active: false,
    id: 'x',
    version: 9,
    __proto__: { polluted: true },
  };
  expect(await account.client.call('PATCH', '/api/users/me', { json })).toMatchObject({
    status: 200,
    body: { id: account.user.id, subscription_tier: 'FREE', is_verified: true, is_active: true },
  });
});

test('a new email is unverified: no login until its link is opened, and the old email gets a notice', async () => {
  const account = await stack.person();
  const login = await logIn(account);
  const { email } = newRegistration();
  const changed = await account.client.call('PATCH', '/api/users/me', { json: { email: email.toUpperCase() } });
  expect(changed).toMatchObject({ status: 200, body: { email, is_verified: false } });

  // Existing logins stay valid, so that a mistyped email can be corrected.
  expect((await account.client.call('GET', '/auth/me')).status).toBe(200);
  expect((await refresh(login.refresh)).status).toBe(200);
  expect(await tryLogIn({ email, password: account.password })).toMatchObject({
    status: 403,
    body: { detail: 'Email not verified' },
  });
  expect((await tryLogIn(account)).status).toBe(401);

  const notice = await eventually(async () => {
    const [mail] = await mailsTo(account.email, 'address-changed');
    expect(mail).toBeDefined();
    return mail!;
  });
  expect(notice).not.toContain(email);
  expect((await open(await mailedLink(email, 'verify-email'))).headers.get('location')).toMatch(/status=success$/);
  await logIn({ email, password: account.password });
});

test('links sent to a previous email are invalid', async () => {
  const account = await stack.person();
  await new Client().call('POST', '/auth/password-reset/request', { json: { email: account.email } });
  const token = (await mailedLink(account.email, 'password-reset')).hash.replace('#token=', '');
  const [first, second] = [newRegistration().email, newRegistration().email];
  await account.client.call('PATCH', '/api/users/me', { json: { email: first } });
  const link = await mailedLink(first, 'verify-email');
  await account.client.call('PATCH', '/api/users/me', { json: { email: second } });

  expect((await open(link)).headers.get('location')).toMatch(/status=error/);
  expect(
    await new Client().call('POST', '/auth/password-reset/confirm', {
      json: { token, new_password: 'a better password' },
    }),
  ).toMatchObject({ status: 400, body: { detail: 'Invalid or used token' } });
  expect((await open(await mailedLink(second, 'verify-email'))).headers.get('location')).toMatch(/status=success$/);
});

test('reports taken names, and releases those of accounts that were never verified', async () => {
  const [account, other] = [await stack.person(), await stack.person()];
  const change = (json: object) => account.client.call('PATCH', '/api/users/me', { json });
  expect(await change({ username: other.user.username.toUpperCase() })).toMatchObject({
    status: 409,
    body: { detail: 'Username already taken' },
  });
  expect(await change({ email: other.email })).toMatchObject({
    status: 409,
    body: { detail: 'Email already registered' },
  });

  const squatter = newRegistration();
  await register(squatter);
  expect(await change({ email: squatter.email, username: squatter.username })).toMatchObject({
    status: 200,
    body: { email: squatter.email, username: squatter.username },
  });
  expect((await tryLogIn(squatter)).status).toBe(401);
});

test('an email that a verified account changed to is taken, verified or not', async () => {
  const account = await stack.person();
  const registration = newRegistration();
  await account.client.call('PATCH', '/api/users/me', { json: { email: registration.email } });
  expect(await new Client().call('POST', '/auth/register', { json: registration })).toMatchObject({
    status: 409,
    body: { detail: 'Email already registered' },
  });
});

test.each([
  [{ username: null }, 'username: is required'],
  [{ email: null }, 'email: is required'],
  [{ username: 'a/b' }, 'username: must be 3 to 32 letters, digits, dots, dashes and underscores'],
  [{ email: 'nobody' }, 'email: must be an email address of at most 254 characters'],
])('refuses a change to %j', async (json, detail) => {
  const account = await stack.person();
  expect(await account.client.call('PATCH', '/api/users/me', { json })).toMatchObject({
    status: 422,
    body: { detail },
  });
});
