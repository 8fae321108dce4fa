import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, SignJWT, type JWTPayload } from 'jose';
import { expect, test } from '@jest/globals';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { idempotencyKeys } from '@tocsin/shared/collections/idempotency-keys.ts';
import { findMailToken } from '@tocsin/shared/collections/mail-tokens.ts';
import { findRegistrationByToken, registrations } from '@tocsin/shared/collections/registrations.ts';
import { mailedLink } from '../support/mailbox.ts';
import { newRegistration, open, register } from '../support/registration.ts';
import { Client, createTopic, testStack } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

// Lifetimes of issued credentials. Tests do not wait for days: they read the stored or signed expiry and change it.
const stack = useStack();
const store = useStore();
const hourMs = 3_600_000;
/** Tolerance between a request and the stored time. */
const slackMs = 60_000;

const login = async () => {
  const { email, password } = await stack.person();
  const before = Date.now();
  return { before, ...(await new Client().call('POST', '/auth/login', { json: { email, password } })).body };
};

function expectEnd(expiresAt: number, from: number): void {
  expect(expiresAt).toBeGreaterThanOrEqual(from);
  expect(expiresAt).toBeLessThan(from + slackMs);
}

test('a refresh token is valid for 30 days, and so is its successor', async () => {
  const { before, refresh_token: token } = await login();
  const sessionOf = async (refreshToken: string) =>
    (await store.documents().get(loginSessions, /^rt_([0-9a-f-]{36})\./.exec(refreshToken)![1]!))!;
  expectEnd((await sessionOf(token)).expiresAt, before + 30 * 24 * hourMs);
  const refreshedAt = Date.now();
  const { body } = await new Client().call('POST', '/auth/refresh', { json: { refresh_token: token } });
  expectEnd((await sessionOf(body.refresh_token)).expiresAt, refreshedAt + 30 * 24 * hourMs);
});

test('a verification link is valid for 24 hours and then reported as expired', async () => {
  const registration = newRegistration();
  const before = Date.now();
  await register(registration);
  const link = await mailedLink(registration.email, 'verify-email');
  expect([link.pathname, link.hash]).toEqual(['/auth/verify-email', '']);
  const token = link.searchParams.get('token')!;
  expect(token).toMatch(/^[\w-]{43}$/);
  const stored = (await findRegistrationByToken(store.documents(), hashSecret(token)))!;
  expectEnd(stored.tokenExpiresAt!, before + 24 * hourMs);
  await store.documents().update(registrations, stored, { tokenExpiresAt: Date.now() - 1 });
  const opened = await open(link);
  expect(opened.headers.get('location')).toMatch(/\/auth\/verified\?status=error&message=Token%20has%20expired$/);
});

test('a reset link is valid for one hour', async () => {
  const { email } = await stack.person();
  const before = Date.now();
  await new Client().call('POST', '/auth/password-reset/request', { json: { email } });
  const link = await mailedLink(email, 'password-reset');
  expect([link.pathname, link.search]).toEqual(['/auth/reset-password', '']);
  const token = /^#token=([\w-]{43})$/.exec(link.hash)![1]!;
  expectEnd((await findMailToken(store.documents(), 'password-reset', hashSecret(token)))!.expiresAt, before + hourMs);
});

test('an idempotency key is kept for 24 hours and then publishes again', async () => {
  const { name } = await createTopic(await stack.person());
  const client = new Client();
  const send = () => client.call('POST', `/${name}`, { text: 'x', headers: { 'Idempotency-Key': 'the key' } });
  const before = Date.now();
  const { body: first } = await send();
  const [stored] = (
    await store
      .documents()
      .find(idempotencyKeys, { index: 'byExpiry', equals: {}, from: before + 24 * hourMs, limit: 1_000 })
  ).filter(({ messageId }) => messageId === first.id);
  expectEnd(stored!.expiresAt, before + 24 * hourMs);
  await store.documents().update(idempotencyKeys, stored!, { expiresAt: Date.now() - 1 });
  const again = await send();
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
  expect(again.body.id).not.toBe(first.id);
});

/** Signs claims as the servers do. */
function signed(claims: JWTPayload): Promise<string> {
  const { env } = testStack();
  const secret = env['JWT_SECRET'] ?? readFileSync(join(env['DATA_DIR']!, 'jwt.secret'), 'utf8').trim();
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).sign(new TextEncoder().encode(secret));
}

test('an access token is valid for 24 hours and then reported as expired', async () => {
  const { access_token: token, expires_in: expiresIn } = await login();
  const claims = decodeJwt(token);
  expect([claims.exp! - claims.iat!, expiresIn]).toEqual([86_400, 86_400]);
  const now = Math.floor(Date.now() / 1_000);
  const at = async (exp: number) =>
    new Client(await signed({ ...claims, iat: exp - 86_400, exp })).call('GET', '/auth/me');
  expect((await at(now + 3_600)).status).toBe(200);
  const expired = await at(now - 60);
  expect(expired).toMatchObject({ status: 401, body: { detail: 'Token has expired' } });
  expect(expired.headers.get('www-authenticate')).toBe('Bearer');
});
