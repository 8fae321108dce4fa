import { expect, test } from '@jest/globals';
import { mailedLink } from '../support/mailbox.ts';
import { newRegistration, tryLogIn } from '../support/registration.ts';
import { Client } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };

test('a login returns the tokens and the account', async () => {
  const account = await stack.person();
  const { status, body, headers } = await tryLogIn({ ...account, email: account.email.toUpperCase() });
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.any(String),
    token_type: 'bearer',
    expires_in: 86_400,
    user: {
      id: account.user.id,
      email: account.email,
      username: account.user.username,
      subscription_tier: 'FREE',
      is_verified: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  });
  expect(headers.get('cache-control')).toBe('no-store');
});

test('/auth/me and /api/users/me return the account, each with its own fields', async () => {
  const account = await stack.person({ tier: 'TEAM' });
  const shared = {
    id: account.user.id,
    email: account.email,
    username: account.user.username,
    avatar_url: null,
    subscription_tier: 'TEAM',
    is_verified: true,
    is_active: true,
    created_at: expect.any(String),
    last_login: expect.any(String),
  };
  expect((await account.client.call('GET', '/auth/me')).body).toEqual({
    ...shared,
    oauth_provider: null,
    terms_accepted_at: expect.any(String),
  });
  expect((await account.client.call('GET', '/api/users/me')).body).toEqual({
    ...shared,
    subscription_expires_at: null,
  });
});

test('/auth/me and /api/users/me require a login', async () => {
  for (const path of ['/auth/me', '/api/users/me', '/auth/consent-history']) {
    const answer = await new Client().call('GET', path);
    expect(answer).toMatchObject({ status: 401, body: { detail: 'Not authenticated' } });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  }
});

test('responses do not distinguish an unknown email from a wrong password', async () => {
  const account = await stack.person();
  const known = await tryLogIn({ email: account.email, password: 'not the password' });
  const unknown = await tryLogIn({ email: newRegistration().email, password: 'not the password' });
  expect(known).toMatchObject(wrong);
  expect(unknown).toMatchObject(wrong);
  const named = (headers: Headers) => [...headers.keys()].sort();
  expect(named(known.headers)).toEqual(named(unknown.headers));
});

test('a password that breaks the rules counts as wrong', async () => {
  const account = await stack.person();
  expect(await tryLogIn({ email: account.email, password: '' })).toMatchObject(wrong);
  expect(await tryLogIn({ email: account.email, password: 'x'.repeat(5_000) })).toMatchObject(wrong);
});

test.each([
  [{ email: 'nobody', password: 'x' }, 422, 'email: must be an email address of at most 254 characters'],
  [{ email: { $gt: '' }, password: 'x' }, 422, 'email: must be a string'],
  [{ email: 'a@example.org', password: { $ne: null } }, 422, 'password: must be a string'],
  [{ email: 'a@example.org' }, 422, 'password: is required'],
  [[], 422, 'body: must be an object'],
])('refuses a login with %j', async (json, status, detail) => {
  expect(await new Client().call('POST', '/auth/login', { json })).toMatchObject({ status, body: { detail } });
});

test('refuses a login that is not JSON or malformed', async () => {
  const client = new Client();
  expect(
    await client.call('POST', '/auth/login', { text: '{"email":', headers: { 'Content-Type': 'application/json' } }),
  ).toMatchObject({ status: 400, body: { detail: 'The body is not valid JSON' } });
  expect(
    (
      await client.call('POST', '/auth/login', {
        text: 'email=a',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      })
    ).status,
  ).toBe(415);
});

test('checks at most five of any number of concurrent guesses per minute', async () => {
  const account = await stack.person();
  const guesser = new Client();
  const guess = (password: string) => guesser.call('POST', '/auth/login', { json: { email: account.email, password } });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => guess(`guess number ${index}`)));

  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(7);
  expect(refused[0]!.body).toEqual({ detail: 'Too many failed logins' });
  expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(refused[0]!.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  expect(refused[0]!.headers.get('x-ratelimit-remaining')).toBe('0');

  expect((await guess(account.password)).status).toBe(429);
  // Other addresses are not blocked.
  expect((await tryLogIn(account)).status).toBe(200);
});

test('after too many guesses, a password reset and a login from another address still work', async () => {
  const account = await stack.person();
  const guesser = new Client();
  for (let guess = 0; guess < 5; guess += 1)
    await guesser.call('POST', '/auth/login', { json: { email: account.email, password: `guess ${guess}` } });
  expect(
    (await guesser.call('POST', '/auth/login', { json: { email: account.email, password: account.password } })).status,
  ).toBe(429);
  expect((await guesser.call('POST', '/auth/password-reset/request', { json: { email: account.email } })).status).toBe(
    200,
  );
  const token = (await mailedLink(account.email, 'password-reset')).hash.slice('#token='.length);
  expect(
    (await guesser.call('POST', '/auth/password-reset/confirm', { json: { token, new_password: 'a new password' } }))
      .status,
  ).toBe(200);
  expect((await tryLogIn({ email: account.email, password: 'a new password' })).status).toBe(200);
});

test('accepts any number of correct logins, concurrently and in sequence', async () => {
  const account = await stack.person();
  const client = new Client();
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      client.call('POST', '/auth/login', { json: { email: account.email, password: account.password } }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(12).fill(200));
  const sessions = new Set(answers.map(({ body }) => body.refresh_token as string));
  expect(sessions.size).toBe(12);
});

test('many addresses guess at most ten passwords per minute, without locking out known devices and networks', async () => {
  const account = await stack.person();
  const known = new Client();
  const login = (client: Client, password: string, headers = {}) =>
    client.call('POST', '/auth/login', { json: { email: account.email, password }, headers });
  const cookie = (await login(known, account.password)).headers.get('set-cookie')!.split(';')[0]!;
  const guesses = await Promise.all(Array.from({ length: 14 }, (_, index) => login(new Client(), `guess ${index}`)));
  expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10);
  const refused = await login(new Client(), account.password);
  expect(refused).toMatchObject({ status: 429, body: { detail: 'Too many failed logins' } });
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);

  expect((await login(known, account.password)).status).toBe(200);
  expect((await login(new Client(), account.password, { Cookie: cookie })).status).toBe(200);
  const other = await stack.person();
  const foreign = (await tryLogIn(other)).headers.get('set-cookie')!.split(';')[0]!;
  expect((await login(new Client(), account.password, { Cookie: foreign })).status).toBe(429);

  const owner = new Client();
  await owner.call('POST', '/auth/password-reset/request', { json: { email: account.email } });
  const token = (await mailedLink(account.email, 'password-reset')).hash.slice('#token='.length);
  const reset = { json: { token, new_password: 'a new password' } };
  expect((await owner.call('POST', '/auth/password-reset/confirm', reset)).status).toBe(200);
  expect((await login(owner, 'a new password')).status).toBe(200);
});
