import { expect, test } from '@jest/globals';
import { Client, createTopic, type Account } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

async function keyOf(account: Account, ...scopes: string[]): Promise<Client> {
  const made = await account.client.call('POST', '/api/keys', { json: { name: 'a key', scopes } });
  return new Client(made.body.key as string);
}

const consent = { accepted: true, consent_method: 'web_checkbox' };

test('a key reads the account with account:read and changes it with account:write', async () => {
  const account = await stack.person();
  const [reader, writer] = [await keyOf(account, 'account:read'), await keyOf(account, 'account:write')];
  for (const path of ['/auth/me', '/api/users/me', '/auth/consent-history']) {
    expect((await reader.call('GET', path)).status).toBe(200);
    expect(await writer.call('GET', path)).toMatchObject({
      status: 403,
      body: { detail: 'Missing scope: account:read' },
    });
  }
  for (const [method, path, json] of [
    ['PATCH', '/api/users/me', {}],
    ['POST', '/auth/accept-terms', consent],
  ] as const) {
    expect((await writer.call(method, path, { json })).status).toBe(200);
    expect(await reader.call(method, path, { json })).toMatchObject({
      status: 403,
      body: { detail: 'Missing scope: account:write' },
    });
  }
});

test('changing the password requires a login', async () => {
  const account = await stack.person();
  const json = { current_password: account.password, new_password: 'a better password' };
  expect(await (await keyOf(account, '*')).call('POST', '/auth/password-change', { json })).toMatchObject({
    status: 403,
    body: { detail: 'Requires a login' },
  });
  expect(await new Client().call('POST', '/auth/password-change', { json })).toMatchObject({
    status: 401,
    body: { detail: 'Not authenticated' },
  });
});

test('a topic token does not authenticate an account', async () => {
  const account = await stack.person();
  const topic = await createTopic(account);
  const made = await account.client.call('POST', `/api/topics/${topic.name}/access-tokens`, {
    json: { name: 'a token', permissions: ['read', 'write'] },
  });
  const holder = new Client(made.body.token as string);
  for (const path of ['/auth/me', '/api/users/me', '/auth/consent-history']) {
    expect(await holder.call('GET', path)).toMatchObject({
      status: 403,
      body: { detail: 'A topic token opens only its topic' },
    });
  }
});

test('keys stay valid after a password change', async () => {
  const account = await stack.person();
  const key = await keyOf(account, 'account:read');
  const json = { current_password: account.password, new_password: 'a better password' };
  expect((await account.client.call('POST', '/auth/password-change', { json })).status).toBe(200);
  expect((await key.call('GET', '/auth/me')).status).toBe(200);
});
