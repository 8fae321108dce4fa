import { expect, test } from '@jest/globals';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { logIn } from '../support/registration.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';
import { Client } from '../support/stack.ts';

const stack = useStack();
const store = useStore();
const newEmail = () => `moved-${Math.random().toString(36).slice(2)}@example.org`;

/** A login that began eleven minutes ago. */
async function oldLogin() {
  const account = await stack.person();
  const login = await logIn(account);
  const id = /^rt_([0-9a-f-]{36})\./.exec(login.refresh)![1]!;
  const session = (await store.documents().get(loginSessions, id))!;
  await store.documents().update(loginSessions, session, { createdAt: Date.now() - 11 * 60_000 });
  const client = new Client(login.access);
  return { account, change: (json: object) => client.call('PATCH', '/api/users/me', { json }) };
}

test('a login older than ten minutes changes the email only with the current password', async () => {
  const { account, change } = await oldLogin();
  expect(await change({ email: newEmail() })).toMatchObject({
    status: 403,
    body: { detail: 'Confirm your password' },
  });
  expect(await change({ email: newEmail(), current_password: 'not it' })).toMatchObject({
    status: 400,
    body: { detail: 'Current password is wrong' },
  });
  const email = newEmail();
  expect(await change({ email, current_password: account.password })).toMatchObject({ status: 200, body: { email } });
});

test('a login older than ten minutes changes the username, and keeps the email, without the password', async () => {
  const { account, change } = await oldLogin();
  const username = `renamed${Math.random().toString(36).slice(2, 10)}`;
  expect(await change({ username, email: account.email })).toMatchObject({ status: 200, body: { username } });
});

test('an API key changes no email', async () => {
  const account = await stack.person();
  const { key } = (await account.post('/api/keys', { name: 'k', scopes: ['account:write'] })).body;
  const client = stack.caller({ 'X-API-Key': key });
  const answer = await client.patch('/api/users/me', { email: newEmail(), current_password: account.password });
  expect(answer).toMatchObject({ status: 403, body: { detail: 'Requires a login' } });
  expect((await account.get('/api/users/me')).body.email).toBe(account.email);
});
