import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { logIn, refresh, tryLogIn } from '../support/registration.ts';
import { Client } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

const newPassword = 'a better password';

test('a password change ends all logins and returns a new one', async () => {
  const account = await stack.person();
  const other = await logIn(account);
  const { status, body } = await account.client.call('POST', '/auth/password-change', {
    json: { current_password: account.password, new_password: newPassword },
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    message: expect.any(String),
    access_token: expect.any(String),
    refresh_token: expect.any(String),
    token_type: 'bearer',
    expires_in: 86_400,
  });

  expect((await new Client(body.access_token as string).call('GET', '/auth/me')).status).toBe(200);
  expect((await refresh(body.refresh_token as string)).status).toBe(200);
  expect((await refresh(other.refresh)).status).toBe(401);
  for (const node of [0, 1]) {
    await eventually(
      async () => {
        for (const client of [account.client, other.client]) {
          expect((await client.call('GET', '/auth/me', { node })).body).toEqual({
            detail: 'Could not validate credentials',
          });
        }
      },
      { timeoutMs: 5_500 },
    );
  }
  expect((await tryLogIn(account)).status).toBe(401);
  await logIn({ email: account.email, password: newPassword });
});

test('a wrong current password changes nothing, and at most five attempts are allowed', async () => {
  const account = await stack.person();
  const change = (current: string) =>
    account.client.call('POST', '/auth/password-change', {
      json: { current_password: current, new_password: newPassword },
    });
  for (let attempt = 0; attempt < 5; attempt += 1) {
    expect(await change('not the password')).toMatchObject({
      status: 400,
      body: { detail: 'Current password is wrong' },
    });
  }
  expect(await change('not the password')).toMatchObject({ status: 429, body: { detail: 'Too many failed logins' } });
  await logIn(account);
});

test.each([
  [{ new_password: 'short' }, 'new_password: must have at least 8 characters'],
  [{ new_password: 'x'.repeat(73) }, 'new_password: must have at most 72 bytes in UTF-8'],
  [{ current_password: undefined }, 'current_password: is required'],
])('refuses a password change with %j', async (fields, detail) => {
  const account = await stack.person();
  const json = { current_password: account.password, new_password: newPassword, ...fields };
  expect(await account.client.call('POST', '/auth/password-change', { json })).toMatchObject({
    status: 422,
    body: { detail },
  });
});

test('of concurrent changes one succeeds, and one login remains', async () => {
  const account = await stack.person();
  const answers = await Promise.all(
    ['one', 'two', 'three', 'four'].map((word) =>
      account.client.call('POST', '/auth/password-change', {
        json: { current_password: account.password, new_password: `password ${word}` },
      }),
    ),
  );
  const won = answers.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  expect((await refresh(won[0]!.body.refresh_token as string)).status).toBe(200);
});
