import { expect, test } from '@jest/globals';
import { logIn, refresh } from '../support/registration.ts';
import { Client } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };
/** The token with another secret, as an attacker who knows the login's ID would forge it. */
const tampered = (token: string): string =>
  token.replace(/\.(.)/, (_, first: string) => `.${first === 'a' ? 'b' : 'a'}`);
const isAlive = async (access: string) => (await new Client(access).call('GET', '/auth/me')).status === 200;

test('a refresh returns a new pair, and the old access token stays valid', async () => {
  const login = await logIn(await stack.person());
  const { status, body } = await refresh(login.refresh);
  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.any(String),
    token_type: 'bearer',
    expires_in: 86_400,
  });
  expect(body.access_token).not.toBe(login.access);
  expect(body.refresh_token).not.toBe(login.refresh);
  expect(await isAlive(body.access_token as string)).toBe(true);
  expect(await isAlive(login.access)).toBe(true);
});

test('using a refresh token twice ends its login and no other', async () => {
  const account = await stack.person();
  const [stolen, other] = [await logIn(account), await logIn(account)];
  const successor = (await refresh(stolen.refresh)).body;

  expect(await refresh(stolen.refresh)).toMatchObject(wrong);
  expect(await refresh(successor.refresh_token as string)).toMatchObject(wrong);
  expect(await isAlive(successor.access_token as string)).toBe(false);
  expect(await isAlive(stolen.access)).toBe(false);

  expect(await isAlive(other.access)).toBe(true);
  expect((await refresh(other.refresh)).status).toBe(200);
});

test('after twenty concurrent refreshes with one token at most one login is valid', async () => {
  const login = await logIn(await stack.person());
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      new Client().call('POST', '/auth/refresh', { json: { refresh_token: login.refresh }, node: index }),
    ),
  );

  const given = answers.filter(({ status }) => status === 200);
  expect(given.length).toBeLessThanOrEqual(1);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(20 - given.length);
  // Nineteen reuses: the pair that was issued is revoked.
  for (const { body } of given) expect(await refresh(body.refresh_token as string)).toMatchObject(wrong);
});

test('a client that repeats its refresh gets the same pair', async () => {
  const login = await logIn(await stack.person());
  const client = new Client();
  const send = (node: number, agent = 'one') =>
    client.call('POST', '/auth/refresh', {
      json: { refresh_token: login.refresh },
      headers: { 'User-Agent': agent },
      node,
    });
  const answers = await Promise.all([0, 1, 2].map((node) => send(node)));
  const { status, body } = await send(1);
  expect(status).toBe(200);
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body });
  expect(await isAlive(body.access_token as string)).toBe(true);
  expect((await refresh(body.refresh_token as string)).status).toBe(200);
  // The pair was used, so the repetition is a reuse.
  expect(await send(0)).toMatchObject(wrong);
});

test('another client that repeats a refresh ends the login', async () => {
  const login = await logIn(await stack.person());
  const client = new Client();
  const send = (agent: string) =>
    client.call('POST', '/auth/refresh', {
      json: { refresh_token: login.refresh },
      headers: { 'User-Agent': agent },
    });
  const { body } = await send('one');
  expect(await send('another')).toMatchObject(wrong);
  expect(await isAlive(body.access_token as string)).toBe(false);
});

test('refuses a malformed refresh token without ending a login', async () => {
  const login = await logIn(await stack.person());
  for (const token of [
    '',
    'nonsense',
    login.access,
    'rt_.',
    login.refresh.slice(0, -1),
    `rt_00000000-0000-7000-8000-000000000000.${'a'.repeat(43)}.${'a'.repeat(22)}`,
    tampered(login.refresh),
  ]) {
    expect(await refresh(token)).toMatchObject(wrong);
  }
  expect(await isAlive(login.access)).toBe(true);
  expect(await new Client().call('POST', '/auth/refresh', { json: {} })).toMatchObject({
    status: 422,
    body: { detail: 'refresh_token: is required' },
  });
});

test('a refresh token does not authenticate requests', async () => {
  const login = await logIn(await stack.person());
  expect(await new Client(login.refresh).call('GET', '/auth/me')).toMatchObject(wrong);
});
