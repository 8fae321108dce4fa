import { expect, test } from '@jest/globals';
import { logIn, refresh } from '../support/registration.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

const idOf = (refreshToken: string): string => /^rt_([0-9a-f-]{36})\./.exec(refreshToken)![1]!;
type Login = Awaited<ReturnType<typeof logIn>>;
const statusOf = async ({ client }: Login) => (await client.call('GET', '/auth/me')).status;
const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };

async function twoLogins() {
  const account = await stack.person();
  return { account, one: await logIn(account), other: await logIn(account) };
}

test('a logout ends its login and no other', async () => {
  const { one, other } = await twoLogins();
  expect((await one.client.call('POST', '/auth/logout')).status).toBe(204);
  expect(await statusOf(one)).toBe(401);
  expect(await refresh(one.refresh)).toMatchObject(wrong);
  expect(await one.client.call('POST', '/auth/logout')).toMatchObject(wrong);
  expect(await statusOf(other)).toBe(200);
});

test('lists the logins with their clients, newest first', async () => {
  const { one, other } = await twoLogins();
  const { body } = await other.client.call('GET', '/auth/sessions');
  expect(body).toHaveLength(3);
  expect(body.slice(0, 2)).toMatchObject([
    { id: idOf(other.refresh), is_current: true },
    { id: idOf(one.refresh), is_current: false },
  ]);
  expect(body[0]).toEqual({
    id: expect.any(String),
    created_at: expect.any(String),
    last_refreshed_at: body[0].created_at,
    expires_at: expect.any(String),
    address: expect.stringMatching(/^[\da-f:.]+$/),
    user_agent: 'node',
    is_current: true,
  });
  const lifetime = Date.parse(body[0].expires_at) - Date.parse(body[0].created_at);
  expect(lifetime).toBe(30 * 86_400_000);
});

test('ends one login, all others, or all', async () => {
  const { account, one, other } = await twoLogins();
  const end = (path: string) => other.client.call('DELETE', path);
  expect((await end(`/auth/sessions/${idOf(one.refresh)}`)).status).toBe(204);
  expect(await statusOf(one)).toBe(401);
  expect((await account.get('/auth/me')).status).toBe(200);
  expect(await end(`/auth/sessions/${idOf(one.refresh)}`)).toMatchObject({
    status: 404,
    body: { detail: 'Login not found' },
  });
  expect((await end('/auth/sessions?keep_current=true')).status).toBe(204);
  expect((await account.get('/auth/me')).status).toBe(401);
  expect(await statusOf(other)).toBe(200);
  const third = await logIn(account);
  expect((await end('/auth/sessions')).status).toBe(204);
  expect([await statusOf(other), await statusOf(third)]).toEqual([401, 401]);
});

test("another account's login is not found, and an API key ends none", async () => {
  const [{ one }, { account: stranger, other }] = [await twoLogins(), await twoLogins()];
  const path = `/auth/sessions/${idOf(one.refresh)}`;
  expect(await other.client.call('DELETE', path)).toMatchObject({ status: 404 });
  const { key } = (await stranger.post('/api/keys', { name: 'k' })).body;
  const byKey = stack.caller({ 'X-API-Key': key });
  const answers = [byKey.get('/auth/sessions'), byKey.delete('/auth/sessions'), byKey.post('/auth/logout')];
  for (const answer of await Promise.all(answers))
    expect(answer).toMatchObject({ status: 403, body: { detail: 'Requires a login' } });
  expect(await statusOf(one)).toBe(200);
});
