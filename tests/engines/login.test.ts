import { expect, test } from '@jest/globals';
import { setActive } from '@tocsin/shared/operations/accounts/set-active.ts';
import { testAudit } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { tryLogIn } from '../support/registration.ts';
import { Client, createTopic } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

const wrong = { status: 401, body: { detail: 'Could not validate credentials' } };

test('all credentials of a disabled account are invalid until it is enabled', async () => {
  const account = await stack.person();
  await setActive(store.documents(), account.email, false, testAudit);
  await eventually(async () => expect(await account.client.call('GET', '/auth/me')).toMatchObject(wrong));
  expect(await tryLogIn(account)).toMatchObject(wrong);

  await setActive(store.documents(), account.email, true, testAudit);
  await eventually(async () => expect((await account.client.call('GET', '/auth/me')).status).toBe(200));
});

test('including its keys and topic tokens', async () => {
  const account = await stack.person();
  const topic = await createTopic(account);
  const key = (await account.client.call('POST', '/api/keys', { json: { name: 'a key' } })).body.key as string;
  const token = (
    await account.client.call('POST', `/api/topics/${topic.name}/access-tokens`, {
      json: { name: 'a token', permissions: ['read'] },
    })
  ).body.token as string;
  const read = (credential: string) => new Client(credential).call('GET', `/${topic.name}/json`);
  for (const credential of [key, token]) expect((await read(credential)).status).toBe(200);
  await setActive(store.documents(), account.email, false, testAudit);
  for (const credential of [key, token])
    await eventually(async () => expect(await read(credential)).toMatchObject(wrong));
});
