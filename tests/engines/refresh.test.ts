import { expect, test } from '@jest/globals';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
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
