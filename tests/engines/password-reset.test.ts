import { expect, test } from '@jest/globals';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { findMailToken, mailTokens } from '@tocsin/shared/collections/mail-tokens.ts';
import { mailedLink } from '../support/mailbox.ts';
import { Client } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';
import { useStore } from '../support/use-store.ts';

const stack = useStack();
const store = useStore();

const newPassword = 'a better password';
const request = (email: string) => new Client().call('POST', '/auth/password-reset/request', { json: { email } });
const confirm = (token: string, password = newPassword) =>
  new Client().call('POST', '/auth/password-reset/confirm', { json: { token, new_password: password } });

async function mailedToken(email: string, count = 1): Promise<string> {
  const link = await mailedLink(email, 'password-reset', count);
  expect(link.pathname).toBe('/auth/reset-password');
  return /^#token=([A-Za-z0-9_-]{43})$/.exec(link.hash)![1]!;
}

test('reports an expired reset token', async () => {
  const account = await stack.person();
  await request(account.email);
  const token = await mailedToken(account.email);
  const stored = (await findMailToken(store.documents(), 'password-reset', hashSecret(token)))!;
  await store.documents().update(mailTokens, stored, { expiresAt: Date.now() - 1 });
  expect(await confirm(token)).toMatchObject({ status: 400, body: { detail: 'Token has expired' } });
});
