import { expect, test } from '@jest/globals';
import type { MailKind } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { mailsTo } from '../support/mailbox.ts';
import { logIn } from '../support/registration.ts';
import { Client, made } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

async function notice(email: string, kind: MailKind): Promise<string> {
  return eventually(async () => {
    const [mail] = await mailsTo(email, kind);
    expect(mail).toBeDefined();
    return mail!.replaceAll('=\r\n', '');
  });
}

test('a changed password is reported to the owner', async () => {
  const person = await stack.person();
  await made(
    person.post('/auth/password-change', { current_password: person.password, new_password: 'a better password' }),
  );
  expect(await notice(person.email, 'password-changed')).toContain('password of your Tocsin account was changed');
});

test('a new API key is reported to the owner', async () => {
  const person = await stack.person();
  await made(person.post('/api/keys', { name: 'backup.example.org' }));
  const mail = await notice(person.email, 'api-key-created');
  expect(mail).toMatch(/^Subject: New API key for your Tocsin account\r$/m);
  // Email programs do not make a link of the name.
  expect(mail).not.toContain('backup.example.org');
  expect(mail).toContain('backup.=E2=81=A0example');
});

test('a login from an unknown network is reported to the owner, another from there is not', async () => {
  const person = await stack.person();
  await logIn(person);
  const elsewhere = new Client();
  const login = { json: { email: person.email, password: person.password } };
  await made(elsewhere.call('POST', '/auth/login', login));
  await eventually(async () =>
    expect((await mailsTo(person.email, 'new-login')).filter((mail) => mail.includes(elsewhere.address))).toHaveLength(
      1,
    ),
  );
  const count = (await mailsTo(person.email, 'new-login')).length;
  await made(elsewhere.call('POST', '/auth/login', login));
  await made(person.post('/api/keys', { name: 'k' }));
  // A later email has arrived, so a second notice would have arrived earlier.
  await notice(person.email, 'api-key-created');
  expect(await mailsTo(person.email, 'new-login')).toHaveLength(count);
});
