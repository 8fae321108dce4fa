import { expect, test } from '@jest/globals';
import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { loginSessions } from '@tocsin/shared/collections/credentials.ts';
import { mailedLink } from '../support/mailbox.ts';
import { logIn, registerVerified, tryLogIn } from '../support/registration.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';
import { Client, made } from '../support/stack.ts';

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

const undo = (token: string) => new Client().call('POST', '/auth/email-change/undo', { json: { token } });
const undoToken = async (email: string, count = 1) =>
  (await mailedLink(email, 'address-changed', count)).hash.slice('#token='.length);

test('the link to the former email undoes the change with everything that a thief added', async () => {
  const account = await stack.person();
  const owners = await logIn(account);
  const olderKey = (await account.post('/api/keys', { name: 'older' })).body;
  const thief = await logIn(account);
  const email = newEmail();
  expect((await thief.client.call('PATCH', '/api/users/me', { json: { email } })).status).toBe(200);
  const token = await undoToken(account.email);
  await made(new Client().call('POST', '/auth/password-reset/request', { json: { email } }));
  const resetToken = (await mailedLink(email, 'password-reset')).hash.slice('#token='.length);
  await made(
    new Client().call('POST', '/auth/password-reset/confirm', {
      json: { token: resetToken, new_password: 'the password of a thief' },
    }),
  );
  const stolen = await logIn({ email, password: 'the password of a thief' });
  const { key } = (await stolen.client.call('POST', '/api/keys', { json: { name: 'of a thief' } })).body;

  expect(await undo(`${token}x`)).toMatchObject({ status: 400, body: { detail: 'Invalid or used token' } });
  expect((await undo(token)).status).toBe(200);

  for (const { client } of [owners, thief, stolen]) expect((await client.call('GET', '/auth/me')).status).toBe(401);
  expect((await stack.caller({ 'X-API-Key': key }).get('/auth/me')).status).toBe(401);
  expect((await stack.caller({ 'X-API-Key': olderKey.key }).get('/auth/me')).body).toMatchObject({
    email: account.email,
    is_verified: true,
  });
  expect((await tryLogIn({ email, password: 'the password of a thief' })).status).toBe(401);
  expect((await tryLogIn({ email: account.email, password: 'the password of a thief' })).status).toBe(401);
  await logIn(account);
  await mailedLink(account.email, 'password-reset');
  expect((await undo(token)).status).toBe(400);
});

test('of several changes, the first can still be undone after the second was', async () => {
  const account = await stack.person();
  const [second, third] = [newEmail(), newEmail()];
  await made(account.patch('/api/users/me', { email: second }));
  const firstToken = await undoToken(account.email);
  await made(account.patch('/api/users/me', { email: third }));
  const secondToken = await undoToken(second);
  expect((await undo(secondToken)).status).toBe(200);
  expect((await undo(firstToken)).status).toBe(200);
  const { client } = await logIn(account);
  expect((await client.call('GET', '/auth/me')).body).toMatchObject({ email: account.email, is_verified: true });
});

test('undoing the first change voids the links of later ones', async () => {
  const account = await stack.person();
  const second = newEmail();
  await made(account.patch('/api/users/me', { email: second }));
  const firstToken = await undoToken(account.email);
  await made(account.patch('/api/users/me', { email: newEmail() }));
  const secondToken = await undoToken(second);
  expect((await undo(firstToken)).status).toBe(200);
  expect((await undo(secondToken)).status).toBe(400);
});

test('a change can be undone for seven days, and not while another account has the email', async () => {
  const account = await stack.person();
  await made(account.patch('/api/users/me', { email: newEmail() }));
  const token = await undoToken(account.email);
  const documents = store.documents();
  const [change] = await documents.find(addressChanges, { index: 'byUser', equals: { userId: account.id }, limit: 1 });
  const aged = await documents.update(addressChanges, change!, { changedAt: Date.now() - 7 * 86_400_000 });
  expect(await undo(token)).toMatchObject({ status: 400, body: { detail: 'Token has expired' } });
  await documents.update(addressChanges, aged, { changedAt: Date.now() });
  await registerVerified({ email: account.email });
  expect(await undo(token)).toMatchObject({ status: 409, body: { detail: 'Email already registered' } });
});
