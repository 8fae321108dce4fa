import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { mailedLink, mailsTo } from '../support/mailbox.ts';
import {
  logIn,
  newRegistration,
  open,
  register,
  tryLogIn,
  twoRegistrations,
  verificationOf,
} from '../support/registration.ts';
import { Client, made, type Answer } from '../support/stack.ts';

test('the link of an earlier registration verifies its own username and password', async () => {
  const { first, second, firstLink, secondLink } = await twoRegistrations();
  expect(verificationOf(await open(firstLink))).toBe('success');
  const { client } = await logIn(first);
  expect((await client.call('GET', '/auth/me')).body).toMatchObject({ username: first.username, is_verified: true });
  expect((await client.call('GET', '/auth/consent-history')).body).toMatchObject({
    consents: [{ is_active: true }],
  });
  expect((await tryLogIn(second)).status).toBe(401);
  expect(verificationOf(await open(secondLink))).toBe('error');
});

test('the link of the newest registration wins if it is opened first', async () => {
  const { first, second, firstLink, secondLink } = await twoRegistrations();
  expect(verificationOf(await open(secondLink))).toBe('success');
  expect(verificationOf(await open(firstLink))).toBe('error');
  await logIn(second);
  expect((await tryLogIn(first)).status).toBe(401);
  // The username of the other registration is available.
  await register(newRegistration({ username: first.username }));
});

test('an earlier registration keeps its username, which its own address can register again', async () => {
  const { first, firstLink } = await twoRegistrations();
  const stranger = newRegistration({ username: first.username.toUpperCase() });
  expect(await new Client().call('POST', '/auth/register', { json: stranger })).toMatchObject({
    status: 409,
    body: { detail: 'Username already taken' },
  });
  await register({ ...first, password: 'another password' });
  expect(verificationOf(await open(firstLink))).toBe('success');
  await logIn(first);
});

test('a new verification email has a link for each registration', async () => {
  const { first, second, firstLink } = await twoRegistrations();
  await made(new Client().call('POST', '/auth/resend-verification', { json: { email: first.email } }));
  const mail = await eventually(async () => {
    const found = (await mailsTo(first.email, 'verify-email'))[2];
    expect(found).toBeDefined();
    return found!.replaceAll('=\r\n', '');
  });
  expect(mail).toContain(first.username);
  expect(mail).toContain(second.username);
  expect(verificationOf(await open(firstLink))).toBe('error');
  expect(verificationOf(await open(await mailedLink(first.email, 'verify-email', 3)))).toBe('success');
  await logIn(first);
});

const cookieOf = (answer: Answer): { username: string; removal?: string } =>
  JSON.parse(
    Buffer.from(/^tocsin_verified=([\w-]+)/.exec(answer.headers.get('set-cookie')!)![1]!, 'base64url').toString(),
  );
const disown = (token: string | undefined) => new Client().call('POST', '/auth/verify-email/undo', { json: { token } });

test('the owner of an address removes an account that someone else registered with it', async () => {
  const registration = newRegistration();
  await register(registration);
  const { username, removal } = cookieOf(await open(await mailedLink(registration.email, 'verify-email')));
  expect(username).toBe(registration.username);
  const { client } = await logIn(registration);
  expect(await disown('nonsense')).toMatchObject({ status: 400, body: { detail: 'Invalid or used token' } });
  expect(await disown(removal)).toMatchObject({ status: 200, body: { message: 'The account was removed' } });
  expect((await client.call('GET', '/auth/me')).status).toBe(401);
  expect((await tryLogIn(registration)).status).toBe(401);
  expect((await disown(removal)).status).toBe(400);
  await register(registration);
});

test('verifying a changed address does not offer to remove the account', async () => {
  const registration = newRegistration();
  await register(registration);
  await open(await mailedLink(registration.email, 'verify-email'));
  const { client } = await logIn(registration);
  const { email } = newRegistration();
  await made(client.call('PATCH', '/api/users/me', { json: { email } }));
  expect(cookieOf(await open(await mailedLink(email, 'verify-email')))).toEqual({ username: registration.username });
});

test("a stranger's requests do not use up the emails of the owner", async () => {
  const [owner, stranger] = [new Client(), new Client()];
  const registration = newRegistration();
  await made(owner.call('POST', '/auth/register', { json: registration }));
  const resend = (client: Client) =>
    made(client.call('POST', '/auth/resend-verification', { json: { email: registration.email } }));
  for (let count = 0; count < 6; count += 1) await resend(stranger);
  await mailedLink(registration.email, 'verify-email', 6);
  await resend(owner);
  // The stranger's sixth was not sent, so this is the owner's second.
  expect(verificationOf(await open(await mailedLink(registration.email, 'verify-email', 7)))).toBe('success');
  expect(await mailsTo(registration.email, 'verify-email')).toHaveLength(7);
});

test('the requests of four strangers do not use up the emails of the owner', async () => {
  const owner = new Client();
  const registration = newRegistration();
  await made(owner.call('POST', '/auth/register', { json: registration }));
  const resend = (client: Client) =>
    made(client.call('POST', '/auth/resend-verification', { json: { email: registration.email } }));
  for (let count = 0; count < 4; count += 1) {
    const stranger = new Client();
    for (let mails = 0; mails < 5; mails += 1) await resend(stranger);
  }
  // The mailbox got 20 emails, so that a client gets only its first two.
  await mailedLink(registration.email, 'verify-email', 20);
  await resend(owner);
  expect(verificationOf(await open(await mailedLink(registration.email, 'verify-email', 21)))).toBe('success');
});
