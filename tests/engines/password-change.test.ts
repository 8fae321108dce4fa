import { expect, test } from '@jest/globals';
import { users } from '@tocsin/shared/collections/users.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

const newPassword = 'a better password';

test('an account without password cannot change it', async () => {
  const account = await stack.person();
  const user = (await store.documents().get(users, account.user.id))!;
  await store.documents().update(users, user, { passwordHash: null });
  const json = { current_password: account.password, new_password: newPassword };
  expect(await account.client.call('POST', '/auth/password-change', { json })).toMatchObject({
    status: 403,
    body: { detail: expect.stringMatching(/^This account has no password/) },
  });
});
