import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import { setActive } from '@tocsin/shared/operations/accounts/set-active.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { testAudit } from '@tocsin/shared/testing/builders.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { startOpenIdProvider } from '@tocsin/simulators/openid-provider.ts';
import { Browser } from '../support/browser.ts';
import { newRegistration } from '../support/registration.ts';
import { signLike, stackSecret } from '../support/sign-token.ts';
import { mailsTo } from '../support/mailbox.ts';
import { Client, createAccount, newAddress } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const appUrl = 'https://app.example/base';
const google = await startOpenIdProvider();
const { stack: running, store } = await useOwnStack({
  GOOGLE_ISSUER: google.issuer,
  GOOGLE_CLIENT_ID: google.clientId,
  GOOGLE_CLIENT_SECRET: google.clientSecret,
  APP_URL: appUrl,
  TRUST_PROXY: '1',
});
afterAll(() => google.close());
google.register(`${running.urls[0]}/auth/google/callback`);

const isInApp = (url: URL) => url.href.startsWith(`${appUrl}/auth/callback`);
const isAtForm = (url: URL) => url.pathname.startsWith('/interaction/');
const loginUrl = () => `${running.urls[0]}/auth/google/login`;

/** Registers a person at the provider. */
function newPerson(claims: Record<string, unknown> = {}): { subject: string; email: string } {
  const subject = randomBytes(8).toString('hex');
  const { email } = newRegistration();
  google.people.set(subject, { email, email_verified: true, ...claims });
  return { subject, email };
}

/** Follows the redirects from the app's button back to the app. Resolves with the URL fragment. */
async function signIn(subject: string, browser = new Browser()): Promise<Record<string, string>> {
  const form = await browser.open(loginUrl(), { isReached: isAtForm });
  return finish(browser, form.url, `person=${subject}`);
}

async function finish(browser: Browser, form: URL, answer: string): Promise<Record<string, string>> {
  const { url } = await browser.open(`${form.href}?${answer}`, { method: 'POST', isReached: isInApp });
  expect(url.href).toMatch(/^https:\/\/app\.example\/base\/auth\/callback#/);
  return Object.fromEntries(new URLSearchParams(url.hash.slice(1)));
}

const me = async (outcome: Record<string, string>) =>
  (await new Client(outcome['access_token'], running.urls).call('GET', '/auth/me')).body;
const logIn = (json: { email: string; password: string }) =>
  new Client(undefined, running.urls).call('POST', '/auth/login', { json });

test('the redirect to the app returns its app_state, also with an error', async () => {
  const answered = async (answer: string) => {
    const browser = new Browser();
    const form = await browser.open(`${loginUrl()}?app_state=marker-1`, { isReached: isAtForm });
    return finish(browser, form.url, answer);
  };
  expect(await answered(`person=${newPerson().subject}`)).toMatchObject({
    access_token: expect.any(String),
    app_state: 'marker-1',
  });
  expect(await answered('deny')).toEqual({ error: 'access_denied', app_state: 'marker-1' });
  const odd = await new Client(undefined, running.urls).call('GET', '/auth/google/login?app_state=a%26b');
  expect(odd.status).toBe(422);
});

test('a Google sign-in creates a verified account without password, with a username derived from the email', async () => {
  const { subject, email } = newPerson({ picture: 'https://pictures.example/a.png' });
  const outcome = await signIn(subject);
  expect(Object.keys(outcome).sort()).toEqual(['access_token', 'refresh_token']);
  expect(await me(outcome)).toEqual({
    id: expect.any(String),
    email,
    username: email.split('@')[0],
    avatar_url: 'https://pictures.example/a.png',
    subscription_tier: 'FREE',
    is_verified: true,
    is_active: true,
    created_at: expect.any(String),
    last_login: expect.any(String),
    oauth_provider: 'google',
    terms_accepted_at: null,
  });
  const refreshed = await new Client(undefined, running.urls).call('POST', '/auth/refresh', {
    json: { refresh_token: outcome['refresh_token'] },
  });
  expect(refreshed.status).toBe(200);

  const change = await new Client(outcome['access_token'], running.urls).call('POST', '/auth/password-change', {
    json: { current_password: 'anything', new_password: 'a better password' },
  });
  expect(change.status).toBe(403);
});

test('redirects the browser to Google with PKCE, state and nonce, and sets a cookie for ten minutes', async () => {
  const browser = new Browser();
  const { url } = await browser.open(loginUrl(), { isReached: ({ origin }) => origin === google.issuer });
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: google.clientId,
    response_type: 'code',
    scope: 'openid email profile',
    redirect_uri: `${running.urls[0]}/auth/google/callback`,
    state: expect.stringMatching(/^[\w-]{32,}$/),
    nonce: expect.stringMatching(/^[\w-]{32,}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
  expect(browser.setCookies).toEqual([
    expect.stringMatching(/^tocsin_google=[^;]+; Max-Age=600; Path=\/auth\/google; HttpOnly; SameSite=Lax$/),
  ]);
});

test('a later sign-in logs in to the same account, also with another email', async () => {
  const { subject } = newPerson();
  const first = await me(await signIn(subject));
  google.people.set(subject, { email: newRegistration().email, email_verified: true });
  const second = await me(await signIn(subject));
  expect(second).toMatchObject({ id: first.id, email: first.email });
  google.people.set(subject, {});
  expect((await me(await signIn(subject))).id).toBe(first.id);
});

test('accepts an email that only UserInfo contains', async () => {
  google.setClaimsInIdToken(false);
  const { subject, email } = newPerson();
  expect(await me(await signIn(subject))).toMatchObject({ email });
  google.setClaimsInIdToken(true);
});

test('links an existing account with the verified email, which keeps its password and provider and gets a notice', async () => {
  const account = await createAccount(store, { urls: running.urls });
  const { subject } = newPerson({ email: account.email.toUpperCase() });
  expect(await me(await signIn(subject))).toMatchObject({ id: account.user.id, oauth_provider: null });
  expect((await logIn(account)).status).toBe(200);
  await eventually(async () => {
    const notices = await mailsTo(account.email, 'identity-linked', running);
    expect(notices).toEqual([expect.stringContaining('Subject: New way to log in to your Tocsin account')]);
  });
  // Later sign-ins link nothing.
  await signIn(subject);
  await eventually(async () => expect(await mailsTo(account.email, 'new-login', running)).not.toEqual([]));
  expect(await mailsTo(account.email, 'identity-linked', running)).toHaveLength(1);
});

test('refuses an ID token that was issued to another client', async () => {
  expect(await signIn(newPerson({ azp: 'another-client' }).subject)).toEqual({ error: 'invalid_response' });
  expect(await signIn(newPerson({ azp: google.clientId }).subject)).toMatchObject({ access_token: expect.any(String) });
});

test('replaces an unverified account with the email and reuses its username', async () => {
  const squatter = newRegistration();
  expect((await new Client(undefined, running.urls).call('POST', '/auth/register', { json: squatter })).status).toBe(
    201,
  );
  const { subject } = newPerson({ email: squatter.email });
  expect(await me(await signIn(subject))).toMatchObject({
    email: squatter.email,
    username: squatter.username,
    oauth_provider: 'google',
  });
  expect((await logIn(squatter)).status).toBe(401);
});

test('appends a suffix to a taken or short username', async () => {
  const taken = await createAccount(store, { urls: running.urls });
  const { subject } = newPerson({ email: `${taken.user.username}+list@elsewhere.example` });
  expect((await me(await signIn(subject))).username).toMatch(new RegExp(`^${taken.user.username}-[0-9a-f]{6}$`));
  const short = newPerson({ email: `x@${randomBytes(6).toString('hex')}.example` });
  expect((await me(await signIn(short.subject))).username).toMatch(/^x-[0-9a-f]{6}$/);
});

test.each([
  ['that is missing', { email: undefined }],
  ['that is not verified', { email_verified: false }],
  ['with unknown verification', { email_verified: undefined }],
  ['that is malformed', { email: 'nobody' }],
])('the first sign-in fails with an email %s', async (_what, claims) => {
  expect(await signIn(newPerson(claims).subject)).toEqual({ error: 'email_not_verified' });
});

test('a sign-in fails with an email to which an account changed without verifying it', async () => {
  const account = await createAccount(store, { urls: running.urls });
  const { subject, email } = newPerson();
  expect((await account.client.call('PATCH', '/api/users/me', { json: { email } })).status).toBe(200);
  expect(await signIn(subject)).toEqual({ error: 'email_not_verified' });
});

test('a person cannot sign in while their new email is unverified', async () => {
  const { subject } = newPerson();
  const { access_token: token } = await signIn(subject);
  expect(
    (await new Client(token, running.urls).call('PATCH', '/api/users/me', { json: { email: newRegistration().email } }))
      .status,
  ).toBe(200);
  expect(await signIn(subject)).toEqual({ error: 'email_not_verified' });
});

test('a disabled account cannot log in', async () => {
  const { subject, email } = newPerson();
  await signIn(subject);
  await setActive(store.documents, email, false, testAudit);
  expect(await signIn(subject)).toEqual({ error: 'account_disabled' });
  const account = await createAccount(store, { urls: running.urls });
  await setActive(store.documents, account.email, false, testAudit);
  expect(await signIn(newPerson({ email: account.email }).subject)).toEqual({ error: 'account_disabled' });
});

// Several people, because one attempt may not hit the race.
test('concurrent first sign-ins of a person create one account', async () => {
  for (let count = 0; count < 8; count++) {
    const { subject, email } = newPerson();
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => signIn(subject)));
    expect(outcomes).toEqual(Array(4).fill({ access_token: expect.any(String), refresh_token: expect.any(String) }));
    const ids = await Promise.all(outcomes.map(async (outcome) => (await me(outcome)).id as string));
    expect(new Set(ids).size).toBe(1);
    expect(await store.documents.count(users, { index: 'email', equals: { email } })).toBe(1);
  }
});

test('redirects a person who declines with access_denied', async () => {
  const browser = new Browser();
  const form = await browser.open(loginUrl(), { isReached: isAtForm });
  expect(await finish(browser, form.url, 'deny')).toEqual({ error: 'access_denied' });
});

test('refuses to finish a sign-in that another browser started or that never started', async () => {
  const [attacker, victim] = [new Browser(), new Browser()];
  const form = await attacker.open(loginUrl(), { isReached: isAtForm });
  const isCallback = (url: URL) => url.pathname === '/auth/google/callback';
  const { url: callback } = await attacker.open(`${form.url.href}?person=${newPerson().subject}`, {
    method: 'POST',
    isReached: isCallback,
  });

  const errorOf = async (browser: Browser, url: URL | string) =>
    new URLSearchParams((await browser.open(url, { isReached: isInApp })).url.hash.slice(1)).get('error');
  expect(await errorOf(victim, callback)).toBe('invalid_state');
  await victim.open(loginUrl(), { isReached: isAtForm });
  expect(await errorOf(victim, callback)).toBe('invalid_state');
  expect(await errorOf(new Browser(), `${running.urls[0]}/auth/google/callback`)).toBe('invalid_state');
  const forged = new URL(callback);
  forged.searchParams.set('code', 'made-up');
  expect(await errorOf(attacker, forged)).toBe('invalid_response');
  // The cookie works once.
  expect(await errorOf(attacker, callback)).toBe('invalid_state');
});

/** Returns from the provider with a code and keeps the browser's cookie. */
async function comeBack(subject: string): Promise<{ callback: URL; cookie: string }> {
  const browser = new Browser();
  const form = await browser.open(loginUrl(), { isReached: isAtForm });
  const { url } = await browser.open(`${form.url.href}?person=${subject}`, {
    method: 'POST',
    isReached: ({ pathname }) => pathname === '/auth/google/callback',
  });
  return {
    callback: url,
    cookie: /^tocsin_google=([^;]+)/.exec(browser.setCookies.findLast((one) => one.startsWith('tocsin_google='))!)![1]!,
  };
}

/** The redirect of the callback with this cookie. */
async function outcomeOf(callback: URL, cookie: string): Promise<Record<string, string>> {
  const answer = await fetch(callback, {
    redirect: 'manual',
    headers: { Cookie: `tocsin_google=${cookie}`, 'X-Forwarded-For': newAddress() },
  });
  expect(answer.headers.get('location')).toMatch(/^https:\/\/app\.example\/base\/auth\/callback#/);
  return Object.fromEntries(new URLSearchParams(new URL(answer.headers.get('location')!).hash.slice(1)));
}

test('a code works once and only with its verifier, nonce and state', async () => {
  const resign = (cookie: string, claims: object) =>
    signLike(cookie, { ...claims }, { typ: 'begun-login+jwt' }, stackSecret(running));
  for (const [claims, error] of [
    [{ codeVerifier: 'x'.repeat(43) }, 'invalid_response'],
    [{ nonce: 'x'.repeat(43) }, 'invalid_response'],
    [{ state: 'x'.repeat(43) }, 'invalid_state'],
    [{ exp: 1 }, 'invalid_state'],
  ] as const) {
    const { callback, cookie } = await comeBack(newPerson().subject);
    expect({ claims, outcome: await outcomeOf(callback, await resign(cookie, claims)) }).toEqual({
      claims,
      outcome: { error },
    });
  }
  const { callback, cookie } = await comeBack(newPerson().subject);
  // A re-signed but unchanged cookie works, so the failures above are due to the changes.
  expect(await outcomeOf(callback, await resign(cookie, {}))).toMatchObject({ access_token: expect.any(String) });
  expect(await outcomeOf(callback, cookie)).toEqual({ error: 'invalid_response' });
  expect(await outcomeOf(callback, `${cookie.slice(0, -3)}AAA`)).toEqual({ error: 'invalid_state' });
});

test('callers cannot choose the redirect target of a sign-in', async () => {
  const query = ['redirect_uri', 'redirect', 'next', 'return_to', 'callback', 'app_url']
    .map((name) => `${name}=https://evil.example/`)
    .join('&');
  const browser = new Browser();
  const { url } = await browser.open(`${loginUrl()}?${query}`, { isReached: ({ origin }) => origin === google.issuer });
  expect(url.searchParams.get('redirect_uri')).toBe(`${running.urls[0]}/auth/google/callback`);
  url.searchParams.set('redirect_uri', 'https://evil.example/');
  // The provider knows one redirect address and shows an error instead of redirecting elsewhere.
  expect((await browser.open(url)).url.origin).toBe(google.issuer);
  const { callback, cookie } = await comeBack(newPerson().subject);
  for (const name of ['redirect_uri', 'next', 'return_to']) callback.searchParams.set(name, 'https://evil.example/');
  await outcomeOf(callback, cookie);
});

test('reports to the app that the provider is unavailable', async () => {
  const browser = new Browser();
  const form = await browser.open(loginUrl(), { isReached: isAtForm });
  const isCallback = (url: URL) => url.pathname === '/auth/google/callback';
  const { url: callback } = await browser.open(`${form.url.href}?person=${newPerson().subject}`, {
    method: 'POST',
    isReached: isCallback,
  });
  google.setAway(true);
  const { url } = await browser.open(callback, { isReached: isInApp });
  google.setAway(false);
  expect(url.hash).toBe('#error=temporarily_unavailable');
});
