import { expect, test } from '@jest/globals';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { Client } from '../support/stack.ts';
import { logIn, refresh } from '../support/registration.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

test('reports an expired refresh token', async () => {
  const account = await stack.person();
  const login = await logIn(account);
  const id = /^rt_([0-9a-f-]{36})\./.exec(login.refresh)![1]!;
  const session = (await store.documents().get(loginSessions, id))!;
  await store.documents().update(loginSessions, session, { expiresAt: Date.now() - 1 });
  expect(await refresh(login.refresh)).toMatchObject({ status: 401, body: { detail: 'Token has expired' } });
});

test('a repeated refresh returns the same pair for 10 seconds and then ends the login', async () => {
  const login = await logIn(await stack.person());
  const client = new Client();
  const send = () => client.call('POST', '/auth/refresh', { json: { refresh_token: login.refresh } });
  const { body } = await send();
  const id = /^rt_([0-9a-f-]{36})\./.exec(login.refresh)![1]!;
  const ageBy = async (ms: number) => {
    const session = (await store.documents().get(loginSessions, id))!;
    await store.documents().update(loginSessions, session, { refreshedAt: session.refreshedAt! - ms });
  };
  await ageBy(5_000);
  expect(await send()).toMatchObject({ status: 200, body: { refresh_token: body.refresh_token } });
  await ageBy(6_000);
  expect(await send()).toMatchObject({ status: 401, body: { detail: 'Could not validate credentials' } });
  expect(await store.documents().get(loginSessions, id)).toBeNull();
});
