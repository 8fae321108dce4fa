import { afterAll, expect, test } from '@jest/globals';
import { usernameKey } from '@tocsin/shared/domain/accounts/account-rules.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startSmtpSimulator, type ReceivedMail } from '@tocsin/simulators/smtp-simulator.ts';
import { newRegistration } from '../support/registration.ts';
import { Client, createAccount, made } from '../support/stack.ts';
import { useOwnStack } from '../support/use-own-stack.ts';

// Emails as a mail server receives them: recipients and bytes.
const smtp = await startSmtpSimulator();
const { stack, store } = await useOwnStack({ SMTP_URL: smtp.url, TRUST_PROXY: '1' });
afterAll(() => smtp.close());

const call = (method: string, path: string, json: object, token?: string) =>
  new Client(token, stack.urls).call(method, path, { json });
const mailTo = (address: string): Promise<ReceivedMail> =>
  eventually(() => {
    const found = smtp.mails.filter(({ to }) => to.includes(address));
    expect(found).toHaveLength(1);
    return found[0]!;
  });

/** The header names of the email, with folded lines joined. */
const headerNames = ({ raw }: ReceivedMail): string[] =>
  raw
    .slice(0, raw.indexOf('\r\n\r\n'))
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
    .sort();
/** The headers that every email has. */
const usual = ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'];

/** Line breaks of every kind, plain and encoded, followed by a header that they would inject. */
const evils = [
  'Crew\r\nBcc: victim@example.org',
  'Crew\nBcc: victim@example.org\n\nbody',
  'Crew\rBcc: victim@example.org',
  'Crew\u2028Bcc: victim@example.org\u0085X: y',
  'Crew\u0000\r\n.\r\nMAIL FROM:<x@y.example>',
  '=?utf-8?q?Crew=0D=0ABcc:_victim@example.org?=',
  '"Crew" <victim@example.org>, other@example.org',
  '%0d%0aBcc: victim@example.org',
];

test.each(evils)('a team named %j cannot add headers or recipients to its invites', async (displayName) => {
  const owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  const team = await owner.client.call('POST', '/api/teams', {
    json: { name: `t-${newRegistration().username.slice(4)}`, display_name: displayName, description: displayName },
  });
  expect(team.status).toBe(201);
  const { email } = newRegistration();
  expect(
    (await owner.client.call('POST', `/api/teams/${team.body.id}/invites`, { json: { email, role: 'member' } })).status,
  ).toBe(201);
  const mail = await mailTo(email);
  expect([mail.to, headerNames(mail)]).toEqual([[email], usual]);
});

/** The decoded bodies of an email. */
const bodies = ({ raw }: ReceivedMail): string =>
  Buffer.from(
    raw
      .slice(raw.indexOf('\r\n\r\n'))
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();

test('a team name is not in the subject of its invites and does not become a link', async () => {
  const { email, username } = newRegistration();
  const owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  const json = { name: `t-${username.slice(4)}`, display_name: 'https://evil.example/x or www.evil.example' };
  const team = await made(owner.client.call('POST', '/api/teams', { json }));
  await made(owner.client.call('POST', `/api/teams/${team.id}/invites`, { json: { email, role: 'member' } }));
  const mail = await mailTo(email);
  expect(mail.raw).toMatch(/^Subject: Invitation to a team on Tocsin\r$/m);
  const text = bodies(mail);
  const links = text.match(/[a-z]+:\/\/[^\s"<]+/g)!;
  expect(links.filter((link) => !link.startsWith(`${stack.urls[0]}/auth/accept-invite#token=`))).toEqual([]);
  // Plain text, and three times in the HTML: the link, and its address as text.
  expect(links.length).toBeGreaterThanOrEqual(3);
  // The name is shown, but an email program does not recognize an address in it.
  expect(text.replaceAll('\u2060', '')).toContain(json.display_name);
  expect(text).not.toContain('evil.example');
});

test('a username from before the current rules cannot add headers or recipients to emails', async () => {
  for (const [at, username] of evils.entries()) {
    const account = await createAccount(store, { urls: stack.urls });
    const user = (await store.documents.get(users, account.user.id))!;
    await store.documents.update(users, user, { username, usernameKey: `${usernameKey(username)} ${at}` });
    expect((await call('POST', '/auth/password-reset/request', { email: account.email })).status).toBe(200);
    const mail = await mailTo(account.email);
    expect([mail.to, headerNames(mail)]).toEqual([[account.email], usual]);
  }
});

test.each([
  'a@example.org\r\nBcc: victim@example.org',
  'a@example.org,victim@example.org',
  'a@example.org victim@example.org',
  '<victim@example.org>a@example.org',
  '"a\r\nRCPT TO:<victim@example.org>"@example.org',
  'a@example.org>\r\nRCPT TO:<victim@example.org',
  'victim@example.org%00@example.org',
  'a@example.org;victim@example.org',
  'A <a@example.org>',
  'a@[127.0.0.1]',
  'a@example.org\n',
  '\ta@example.org',
])('refuses the email %j in every field', async (email) => {
  const before = smtp.mails.length;
  const owner = await createAccount(store, { tier: 'TEAM', urls: stack.urls });
  const team = (
    await owner.client.call('POST', '/api/teams', {
      json: { name: `t-${newRegistration().username.slice(4)}`, display_name: 'Crew' },
    })
  ).body;
  const answers = [
    await call('POST', '/auth/register', newRegistration({ email })),
    await call('POST', '/auth/password-reset/request', { email }),
    await call('POST', '/auth/resend-verification', { email }),
    await owner.client.call('PATCH', '/api/users/me', { json: { email } }),
    await owner.client.call('POST', `/api/teams/${team.id}/invites`, { json: { email, role: 'member' } }),
  ];
  for (const answer of answers)
    expect(answer).toMatchObject({
      status: 422,
      body: { detail: 'email: must be an email address of at most 254 characters' },
    });
  expect(smtp.mails.length).toBe(before);
});

test.each(['Title', 'X-Title', 'X-Email', 'Email', 'To', 'Reply-To'])(
  '%s of a publish does not reach any email',
  async (header) => {
    const owner = await createAccount(store, { urls: stack.urls });
    const { name } = (await owner.client.call('POST', '/api/topics', { json: { name: newRegistration().username } }))
      .body;
    const before = smtp.mails.length;
    const sent = await owner.client.call('POST', `/${name}`, {
      text: 'x',
      headers: { [header]: '=?utf-8?q?a=0D=0ABcc:_victim@example.org?=' },
    });
    expect(sent.status).toBe(200);
    // A later job has arrived, so an email caused by the publish would have arrived before.
    await call('POST', '/auth/password-reset/request', { email: owner.email });
    await mailTo(owner.email);
    expect(smtp.mails.length).toBe(before + 1);
  },
);
