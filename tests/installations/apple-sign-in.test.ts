import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import { startAppleKeys } from '@tocsin/simulators/apple-keys.ts';
import { findAuditEntries } from '@tocsin/shared/operations/audit/find-audit-entries.ts';
import { exportSPKI, importJWK, SignJWT, type JWK } from 'jose';
import { newRegistration } from '../support/registration.ts';
import { Client, createAccount } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

const apple = await startAppleKeys();
const { stack: running, store } = await useOwnStack({
  APPLE_ISSUER: apple.issuer,
  APPLE_CLIENT_ID: apple.clientId,
  APPLE_JWKS_URL: apple.url,
  TRUST_PROXY: '1',
});
afterAll(() => apple.close());

const newSubject = () => `001.${randomBytes(8).toString('hex')}`;
const signIn = (json: object) => new Client(undefined, running.urls).call('POST', '/auth/apple/mobile', { json });
const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };

test('an Apple sign-in creates an account, and the next one logs in to it', async () => {
  const [user, { email }] = [newSubject(), newRegistration()];
  // Apple sends booleans as strings, and the name only once.
  const first = await signIn({
    identity_token: await apple.sign({ sub: user, email, email_verified: 'true' }),
    user,
    full_name: { givenName: 'A', familyName: null },
  });
  expect(first.status).toBe(200);
  expect(first.body).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.any(String),
    token_type: 'bearer',
    expires_in: 86_400,
    user: {
      id: expect.any(String),
      email,
      username: email.split('@')[0],
      subscription_tier: 'FREE',
      is_verified: true,
      created_at: expect.any(String),
    },
  });
  expect(
    (await new Client(first.body.access_token as string, running.urls).call('GET', '/auth/me')).body,
  ).toMatchObject({ oauth_provider: 'apple', terms_accepted_at: null });

  const second = await signIn({ identity_token: await apple.sign({ sub: user }), user, full_name: null });
  expect(second).toMatchObject({ status: 200, body: { user: { id: first.body.user.id } } });

  const recorded = (await findAuditEntries(store.documents, { subject: first.body.user.id }, 10)).entries.map(
    ({ entry }) => entry,
  );
  expect(recorded.map(({ action }) => action).sort()).toEqual([
    'account.created',
    'identity.linked',
    'login.succeeded',
    'login.succeeded',
  ]);
  for (const entry of recorded) expect(entry).toMatchObject({ actor: first.body.user.id, through: 'apple' });
  expect(recorded.map(({ details }) => details)).toEqual(
    expect.arrayContaining([{ provider: 'apple' }, { method: 'apple' }]),
  );
});

test('a verified email logs in to the account with that email', async () => {
  const account = await createAccount(store, { urls: running.urls });
  const user = newSubject();
  const answer = await signIn({
    identity_token: await apple.sign({ sub: user, email: account.email, email_verified: true }),
    user,
  });
  expect(answer).toMatchObject({ status: 200, body: { user: { id: account.user.id } } });
});

test('the first sign-in fails without a verified email', async () => {
  const user = newSubject();
  const { email } = newRegistration();
  for (const claims of [{}, { email }, { email, email_verified: 'false' }, { email, email_verified: false }]) {
    expect(await signIn({ identity_token: await apple.sign({ sub: user, ...claims }), user })).toMatchObject({
      status: 401,
      body: { detail: 'Email not verified' },
    });
  }
});

test('refuses a token with a wrong nonce, audience, authorized party, issuer or key, or without signature', async () => {
  const user = newSubject();
  const claims = { sub: user, email: newRegistration().email, email_verified: true };
  const other = await startAppleKeys();
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const tokens = [
    await apple.sign({ ...claims, sub: newSubject() }),
    await apple.sign({ ...claims, sub: undefined }),
    await apple.sign({ ...claims, aud: 'org.example.other' }),
    await apple.sign({ ...claims, azp: 'org.example.other' }),
    await apple.sign({ ...claims, iss: 'https://evil.example' }),
    await apple.sign({ ...claims, exp: undefined }),
    await apple.sign(claims, { kid: 'unknown' }),
    await other.sign({ ...claims, iss: apple.issuer }),
    `${encode({ alg: 'none' })}.${encode({ ...claims, iss: apple.issuer, aud: apple.clientId, exp: 9_999_999_999 })}.`,
    'nonsense',
    '',
    'a.b.c',
  ];
  await other.close();
  for (const token of tokens) expect(await signIn({ identity_token: token, user })).toMatchObject(wrong);
  const answer = await signIn({ identity_token: tokens[0], user });
  expect(answer.headers.get('www-authenticate')).toBe('Bearer');
});

test("refuses a token signed with Apple's public key as secret", async () => {
  const user = newSubject();
  const {
    keys: [jwk],
  } = (await (await fetch(apple.url)).json()) as { keys: [JWK & { kid: string }] };
  const pem = await exportSPKI(
    (await importJWK(jwk, 'RS256', { extractable: true })) as Parameters<typeof exportSPKI>[0],
  );
  const claims = {
    sub: user,
    email: newRegistration().email,
    email_verified: true,
    iss: apple.issuer,
    aud: apple.clientId,
    exp: Math.floor(Date.now() / 1_000) + 600,
  };
  for (const secret of [pem, pem.trim(), JSON.stringify(jwk), jwk.n!]) {
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: jwk.kid })
      .sign(new TextEncoder().encode(secret));
    expect(await signIn({ identity_token: token, user })).toMatchObject(wrong);
  }
});

test('reports an expired token', async () => {
  const user = newSubject();
  const token = await apple.sign({ sub: user, exp: Math.floor(Date.now() / 1_000) - 60 });
  expect(await signIn({ identity_token: token, user })).toMatchObject({
    status: 401,
    body: { detail: 'Token has expired' },
  });
});

test.each([
  [{ user: 'x' }, 'identity_token: is required'],
  [{ identity_token: 'x' }, 'user: is required'],
  [{ identity_token: 'x', user: '' }, 'user: is required'],
  [{ identity_token: 'x', user: 'x', full_name: 'A B' }, 'full_name: must be an object'],
])('refuses a sign-in with %j', async (json, detail) => {
  expect(await signIn(json)).toMatchObject({ status: 422, body: { detail } });
});

test('an expired credential does not block a sign-in', async () => {
  const user = newSubject();
  const json = {
    identity_token: await apple.sign({ sub: user, email: newRegistration().email, email_verified: true }),
    user,
  };
  expect((await new Client('nonsense', running.urls).call('POST', '/auth/apple/mobile', { json })).status).toBe(200);
});
