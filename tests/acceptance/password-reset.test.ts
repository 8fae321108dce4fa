import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { mailedLink, mailsTo } from '../support/mailbox.ts';
import { logIn, newRegistration, refresh, register, tryLogIn } from '../support/registration.ts';
import { Client } from '../support/stack.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack();

const newPassword = 'a better password';
const request = (email: string, client = new Client()) =>
  client.call('POST', '/auth/password-reset/request', { json: { email } });
const confirm = (token: string, password = newPassword) =>
  new Client().call('POST', '/auth/password-reset/confirm', { json: { token, new_password: password } });

async function mailedToken(email: string, count = 1): Promise<string> {
  const link = await mailedLink(email, 'password-reset', count);
  expect(link.pathname).toBe('/auth/reset-password');
  return /^#token=([A-Za-z0-9_-]{43})$/.exec(link.hash)![1]!;
}

test('a reset sets a new password and ends all logins', async () => {
  const account = await stack.person();
  const login = await logIn(account);
  expect((await request(account.email.toUpperCase())).status).toBe(200);

  const { status, body } = await confirm(await mailedToken(account.email));
  expect(status).toBe(200);
  expect(body).toEqual({ message: expect.any(String) });

  expect((await refresh(login.refresh)).status).toBe(401);
  for (const node of [0, 1]) {
    await eventually(async () => expect((await account.client.call('GET', '/auth/me', { node })).status).toBe(401), {
      timeoutMs: 5_500,
    });
  }
  expect((await tryLogIn(account)).status).toBe(401);
  await logIn({ email: account.email, password: newPassword });
});

test('only the newest reset token is valid, and only once', async () => {
  const account = await stack.person();
  await request(account.email);
  const older = await mailedToken(account.email);
  await request(account.email);
  const newer = await mailedToken(account.email, 2);

  const used = { status: 400, body: { detail: 'Invalid or used token' } };
  expect(await confirm(older)).toMatchObject(used);
  expect((await confirm(newer)).status).toBe(200);
  expect(await confirm(newer)).toMatchObject(used);
  expect(await confirm('nonsense')).toMatchObject(used);
  expect(await confirm('')).toMatchObject(used);
});

test('concurrent uses of a reset token set one password', async () => {
  const account = await stack.person();
  await request(account.email);
  const token = await mailedToken(account.email);
  const passwords = ['password one', 'password two', 'password three'];
  const answers = await Promise.all(passwords.map((password) => confirm(token, password)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  const winner = passwords[answers.findIndex(({ status }) => status === 200)]!;
  await logIn({ email: account.email, password: winner });
});

test('a verification token does not reset the password', async () => {
  const registration = newRegistration();
  await register(registration);
  const token = (await mailedLink(registration.email, 'verify-email')).searchParams.get('token')!;
  expect(await confirm(token)).toMatchObject({ status: 400, body: { detail: 'Invalid or used token' } });
});

test('a reset verifies the email, because the mailbox is proven', async () => {
  const registration = newRegistration();
  await register(registration);
  await request(registration.email);
  await confirm(await mailedToken(registration.email));
  await logIn({ email: registration.email, password: newPassword });
});

test('a new password must follow the rules, and a refused one does not use up the token', async () => {
  const account = await stack.person();
  await request(account.email);
  const token = await mailedToken(account.email);
  expect(await confirm(token, 'short')).toMatchObject({
    status: 422,
    body: { detail: 'new_password: must have at least 8 characters' },
  });
  expect((await confirm(token)).status).toBe(200);
});

test('known and unknown emails get the same response, and only accounts get an email', async () => {
  const account = await stack.person();
  const stranger = newRegistration().email;
  const verifications = await mailsTo(account.email, 'verify-email');
  for (const path of ['/auth/password-reset/request', '/auth/resend-verification']) {
    const [known, unknown] = [account.email, stranger].map((email) =>
      new Client().call('POST', path, { json: { email } }),
    );
    const [a, b] = [await known!, await unknown!];
    expect(a.status).toBe(200);
    expect(a.body).toEqual({ message: expect.any(String) });
    expect([b.status, b.body]).toEqual([a.status, a.body]);
    expect(await new Client().call('POST', path, { json: { email: 'nobody' } })).toMatchObject({ status: 422 });
  }
  await mailedLink(account.email, 'password-reset');
  expect(await mailsTo(stranger, 'password-reset')).toEqual([]);
  // The account is verified, so no verification email is sent.
  expect(await mailsTo(account.email, 'verify-email')).toEqual(verifications);
});

test('an address gets at most five emails of a kind per hour from one client, and the response does not change', async () => {
  const account = await stack.person();
  const client = new Client();
  const answers = [];
  for (let count = 0; count < 8; count += 1) answers.push(await request(account.email, client));
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(8).fill(200));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);

  // A later job has arrived, so a sixth email would have arrived earlier.
  const later = await stack.person();
  await mailedLink(account.email, 'password-reset', 5);
  await request(later.email);
  await mailedLink(later.email, 'password-reset');
  expect(await mailsTo(account.email, 'password-reset')).toHaveLength(5);
});
