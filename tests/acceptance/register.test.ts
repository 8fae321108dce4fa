import { expect, test } from '@jest/globals';
import { mailedLink } from '../support/mailbox.ts';
import {
  logIn,
  newRegistration,
  open,
  register,
  registerVerified,
  tryLogIn,
  twoRegistrations,
  verificationOf,
} from '../support/registration.ts';
import { Client } from '../support/stack.ts';

const tryRegister = (json: unknown) => new Client().call('POST', '/auth/register', { json });

test('registers, opens the emailed link and logs in', async () => {
  const registration = newRegistration();
  const registered = await tryRegister({ ...registration, email: registration.email.toUpperCase() });
  expect(registered.status).toBe(201);
  expect(registered.body).toEqual({
    message: expect.any(String),
    email: registration.email,
    username: registration.username,
  });

  expect(await tryLogIn(registration)).toMatchObject({ status: 403, body: { detail: 'Email not verified' } });

  const link = await mailedLink(registration.email, 'verify-email');
  const opened = await open(link);
  expect(opened.status).toBe(302);
  expect(opened.headers.get('location')).toMatch(/\/auth\/verified\?status=success$/);

  expect(await tryLogIn(registration)).toMatchObject({ status: 200, body: { user: { is_verified: true } } });
});

test('a verification link works once, and HEAD does not use it up', async () => {
  const registration = newRegistration();
  await register(registration);
  const link = await mailedLink(registration.email, 'verify-email');

  const looked = await new Client().call('HEAD', link.pathname + link.search);
  expect(looked.status).toBe(302);
  expect((await open(link)).headers.get('location')).toMatch(/status=success$/);
  expect((await open(link)).headers.get('location')).toMatch(
    /\/auth\/verified\?status=error&message=Invalid%20or%20used%20token$/,
  );
});

test.each(['', '?token=', '?token=nonsense'])(
  'a verification link without its token leads to an error page (%s)',
  async (query) => {
    const opened = await new Client().call('GET', `/auth/verify-email${query}`);
    expect(opened.status).toBe(302);
    expect(opened.headers.get('location')).toMatch(
      /\/auth\/verified\?status=error&message=Invalid%20or%20used%20token$/,
    );
  },
);

test('a newer verification link invalidates the older one', async () => {
  const registration = newRegistration();
  await register(registration);
  const older = await mailedLink(registration.email, 'verify-email');
  const resent = await new Client().call('POST', '/auth/resend-verification', { json: { email: registration.email } });
  expect(resent.status).toBe(200);
  const newer = await mailedLink(registration.email, 'verify-email', 2);
  expect(await tryLogIn(registration)).toMatchObject({ status: 403, body: { detail: 'Email not verified' } });

  expect((await open(older)).headers.get('location')).toMatch(/status=error/);
  expect((await open(newer)).headers.get('location')).toMatch(/status=success$/);
});

test('a verified email and a username in any case are taken', async () => {
  const taken = await registerVerified();
  expect(await tryRegister(newRegistration({ email: taken.email.toUpperCase() }))).toMatchObject({
    status: 409,
    body: { detail: 'Email already registered' },
  });
  expect(await tryRegister(newRegistration({ username: taken.username.toUpperCase() }))).toMatchObject({
    status: 409,
    body: { detail: 'Username already taken' },
  });
});

test('concurrent registrations of one username create one account', async () => {
  const { username } = newRegistration();
  const answers = await Promise.all(Array.from({ length: 4 }, () => tryRegister(newRegistration({ username }))));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
});

test('of links that are opened concurrently, one wins', async () => {
  const { first, second, firstLink, secondLink } = await twoRegistrations();
  const outcomes = (await Promise.all([open(firstLink), open(secondLink)])).map(verificationOf);
  expect(outcomes.sort()).toEqual(['error', 'success']);
  const logins = await Promise.all([tryLogIn(first), tryLogIn(second)]);
  expect(logins.map(({ status }) => status).sort()).toEqual([200, 401]);
});

test('the terms must be accepted', async () => {
  expect(await tryRegister(newRegistration({ terms_accepted: false }))).toMatchObject({
    status: 400,
    body: { detail: 'Terms must be accepted' },
  });
});

test.each([
  [{ email: 'no-address' }, 'email: must be an email address of at most 254 characters'],
  [{ email: 'two@at@example.org' }, 'email: must be an email address of at most 254 characters'],
  [{ email: `${'a'.repeat(250)}@example.org` }, 'email: must be an email address of at most 254 characters'],
  [{ email: { $ne: null } }, 'email: must be a string'],
  [{ email: null }, 'email: is required'],
  [{ username: 'ab' }, 'username: must be 3 to 32 letters, digits, dots, dashes and underscores'],
  [{ username: 'a b c' }, 'username: must be 3 to 32 letters, digits, dots, dashes and underscores'],
  [{ username: 'a'.repeat(33) }, 'username: must be 3 to 32 letters, digits, dots, dashes and underscores'],
  [{ username: 'a\r\nBcc: b' }, 'username: must be 3 to 32 letters, digits, dots, dashes and underscores'],
  [{ password: '1234567' }, 'password: must have at least 8 characters'],
  [{ password: 'é'.repeat(37) }, 'password: must have at most 72 bytes in UTF-8'],
  [{ terms_accepted: 'yes' }, 'terms_accepted: must be a boolean'],
  [{ terms_accepted: undefined }, 'terms_accepted: is required'],
])('refuses a registration with %j', async (fields, detail) => {
  expect(await tryRegister({ ...newRegistration(), ...fields })).toMatchObject({ status: 422, body: { detail } });
});

test('a password of 72 bytes is not truncated', async () => {
  const password = '🔔'.repeat(18);
  const account = await registerVerified({ password });
  await logIn(account);
  expect((await tryLogIn({ ...account, password: `${password}x` })).status).toBe(401);
});

test('a stale credential does not block a registration', async () => {
  const answer = await new Client('nonsense').call('POST', '/auth/register', { json: newRegistration() });
  expect(answer.status).toBe(201);
});
