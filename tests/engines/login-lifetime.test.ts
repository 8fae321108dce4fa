import { expect, test } from '@jest/globals';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { logIn, refresh } from '../support/registration.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

const dayMs = 86_400_000;
const expiryOf = (accessToken: string): number =>
  JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()).exp * 1_000;

test('a login ends 90 days after it began, however often it is refreshed', async () => {
  const login = await logIn(await stack.person());
  const id = /^rt_([0-9a-f-]{36})\./.exec(login.refresh)![1]!;
  const session = (await store.documents().get(loginSessions, id))!;
  const createdAt = Date.now() - 90 * dayMs + 60_000;
  await store.documents().update(loginSessions, session, { createdAt });
  const { status, body } = await refresh(login.refresh);
  expect(status).toBe(200);
  expect(body.expires_in).toBeLessThanOrEqual(60);
  const end = createdAt + 90 * dayMs;
  expect(Math.abs(expiryOf(body.access_token as string) - end)).toBeLessThanOrEqual(1_000);
  expect((await store.documents().get(loginSessions, id))!.expiresAt).toBe(end);
});

test('a login of an older version without a client can be refreshed', async () => {
  const login = await logIn(await stack.person());
  const id = /^rt_([0-9a-f-]{36})\./.exec(login.refresh)![1]!;
  const session = (await store.documents().get(loginSessions, id))!;
  await store.documents().update(loginSessions, session, { address: null, userAgent: null });
  expect((await refresh(login.refresh)).status).toBe(200);
  expect(await store.documents().get(loginSessions, id)).toMatchObject({ userAgent: 'node' });
});
