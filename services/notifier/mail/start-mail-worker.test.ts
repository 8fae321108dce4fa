import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { mailAttempts, mailQueue, type MailJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Engine } from '@tocsin/shared/ports/engine.ts';
import { openEngine } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource, randomId } from '@tocsin/shared/platform/ids.ts';
import { closers } from '@tocsin/shared/platform/lifecycle.ts';
import { loadConfig } from '@tocsin/shared/platform/load-config.ts';
import { openLogger } from '@tocsin/shared/platform/logger.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { findMailToken } from '@tocsin/shared/collections/mail-tokens.ts';
import { findInviteByToken, teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { newMember, newTeam } from '@tocsin/shared/testing/builders.ts';
import { eventually } from '@tocsin/shared/testing/eventually.ts';
import { startSmtpSimulator, type ReceivedMail, type SmtpSimulator } from '@tocsin/simulators/smtp-simulator.ts';
import { openSmtpMailer } from './smtp-mailer.ts';
import { startMailWorker } from './start-mail-worker.ts';

const own = closers();
afterEach(() => own.closeAll());

interface Post {
  readonly engine: Engine;
  readonly smtp: SmtpSimulator;
  readonly dataDir: string;
  add(job: MailJob): Promise<void>;
  account(fields?: Partial<User>): Promise<User>;
}

/** A mail worker on an embedded engine that sends over SMTP or writes files. */
async function startPost(options: { intoFiles?: boolean } = {}): Promise<Post> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tocsin-mail-'));
  own.add(() => rmSync(dataDir, { recursive: true }));
  const smtp = await startSmtpSimulator();
  own.add(() => smtp.close());
  const config = loadConfig(
    { DATA_DIR: dataDir, ...(options.intoFiles === true ? {} : { SMTP_URL: smtp.url }) },
    '/nonexistent',
  );
  const log = openLogger('test', 'silent');
  const engine = await openEngine(config, { clock: systemClock, log });
  own.add(() => engine.close());
  const makeId = idSource(systemClock);
  const worker = await startMailWorker({
    jobQueue: engine.jobQueue,
    documents: engine.documents,
    config,
    log,
    makeId,
    clock: systemClock,
    baseUrl: 'https://api.example.org',
    appUrl: 'https://app.example.org',
  });
  own.add(() => worker.close());
  return {
    engine,
    smtp,
    dataDir,
    add: (job) => engine.jobQueue.add(mailQueue, [{ id: makeId(), data: { ...job }, ...mailAttempts }]),
    account: (fields) => insertAccount(engine, fields),
  };
}

function insertAccount(engine: Engine, fields: Partial<User> = {}): Promise<User> {
  const username = `u-${randomId().slice(0, 8)}`;
  return engine.documents.insert(users, {
    id: randomId(),
    email: `${username}@example.org`,
    username,
    usernameKey: username,
    passwordHash: null,
    avatarUrl: null,
    tier: 'FREE',
    tierExpiresAt: null,
    additionalMembers: 0,
    isVerified: false,
    wasVerified: false,
    isActive: true,
    createdAt: Date.now(),
    lastLogin: null,
    termsAcceptedAt: null,
    oauthProvider: null,
    ...fields,
  });
}

const received = (post: Post, count: number): Promise<readonly ReceivedMail[]> =>
  eventually(() => {
    expect(post.smtp.mails).toHaveLength(count);
    return post.smtp.mails;
  });

/** Decodes quoted-printable. */
const readable = (raw: string): string => {
  const bytes = raw
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
};

const tokenIn = (text: string): string => /token=([A-Za-z0-9_-]{43})/.exec(readable(text))![1]!;

test('a verification email links to the API, and only the hash of its token is stored', async () => {
  const post = await startPost();
  const user = await post.account();
  await post.add({ kind: 'verify-email', userId: user.id });

  const [mail] = await received(post, 1);
  expect(mail!.to).toEqual([user.email]);
  const token = tokenIn(mail!.raw);
  expect(readable(mail!.raw)).toContain(`https://api.example.org/auth/verify-email?token=${token}`);
  expect(await findMailToken(post.engine.documents, 'password-reset', hashSecret(token))).toBeNull();
  const stored = await findMailToken(post.engine.documents, 'verify-email', hashSecret(token));
  expect(stored).toMatchObject({ userId: user.id, email: user.email });
  expect(stored!.expiresAt - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
  expect(JSON.stringify(stored)).not.toContain(token);
});

test('a reset email links to the app with the token in the fragment', async () => {
  const post = await startPost();
  const user = await post.account({ isVerified: true, wasVerified: true });
  await post.add({ kind: 'password-reset', userId: user.id });

  const [mail] = await received(post, 1);
  const token = tokenIn(mail!.raw);
  expect(readable(mail!.raw)).toContain(`https://app.example.org/auth/reset-password#token=${token}`);
  const stored = await findMailToken(post.engine.documents, 'password-reset', hashSecret(token));
  expect(stored!.expiresAt - Date.now()).toBeLessThanOrEqual(3_600_000);
});

test('an invitation links to the app, and only the latest link is valid', async () => {
  const post = await startPost();
  const { documents } = post.engine;
  const inviter = await post.account({ isVerified: true });
  const team = await documents.insert(
    teams,
    newTeam(inviter.id, { displayName: 'Night crew\r\nBcc: victim@example.org' }),
  );
  const invite = await documents.insert(teamInvites, {
    id: randomId(),
    teamId: team.id,
    email: 'new@example.org',
    role: 'admin',
    invitedById: inviter.id,
    tokenHash: null,
    createdAt: Date.now(),
    expiresAt: Date.now() + 60_000,
  });
  await post.add({ kind: 'team-invite', inviteId: invite.id });
  const [mail] = await received(post, 1);
  expect(mail!.to).toEqual(['new@example.org']);
  expect(mail!.raw.slice(0, mail!.raw.indexOf('\r\n\r\n'))).not.toMatch(/^Bcc:/im);
  const token = tokenIn(mail!.raw);
  expect(readable(mail!.raw)).toContain(`https://app.example.org/auth/accept-invite#token=${token}`);
  expect(readable(mail!.raw)).toContain(`${inviter.username} invites you to join the team`);
  expect(await findInviteByToken(documents, hashSecret(token))).toMatchObject({
    id: invite.id,
    expiresAt: invite.expiresAt,
  });

  await post.add({ kind: 'team-invite', inviteId: invite.id });
  const newer = tokenIn((await received(post, 2))[1]!.raw);
  expect(await findInviteByToken(documents, hashSecret(token))).toBeNull();
  expect(await findInviteByToken(documents, hashSecret(newer))).toMatchObject({ id: invite.id });
});

test('notifies the owner of all lapsed teams and their deactivation in one email', async () => {
  const post = await startPost();
  const { documents } = post.engine;
  const owner = await post.account({ isVerified: true });
  const lapsedAt = Date.UTC(2026, 2, 1, 14, 5);
  for (const displayName of ['Night crew', 'Day <crew>'])
    await documents.insert(teams, newTeam(owner.id, { displayName, lapsedAt, notice: 'lapse', noticeAt: lapsedAt }));
  await documents.insert(teams, newTeam(owner.id, { displayName: 'Idle', isActive: false, deactivatedAt: lapsedAt }));
  await post.add({ kind: 'team-lapse', userId: owner.id });
  const [mail] = await received(post, 1);
  expect(mail!.to).toEqual([owner.email]);
  const text = readable(mail!.raw);
  expect(text).toContain('\r\n\r\n“Day <crew>”: 2026-03-08 14:05 UTC');
  expect(text).toContain('<p>“Day &lt;crew&gt;”: 2026-03-08 14:05 UTC</p>');
  expect(text).toContain('“Night crew”: 2026-03-08 14:05 UTC');
  expect(text).not.toContain('Idle');
});

test('notifies only owner and admins of the removal of a team', async () => {
  const post = await startPost();
  const { documents } = post.engine;
  const [owner, admin, member] = [await post.account(), await post.account(), await post.account()];
  const deactivatedAt = Date.UTC(2026, 2, 1, 14, 5);
  const team = await documents.insert(
    teams,
    newTeam(owner.id, {
      displayName: 'Night crew',
      isActive: false,
      deactivatedAt,
      notice: 'removal-7-days',
      noticeAt: deactivatedAt,
    }),
  );
  for (const [user, role] of [
    [owner, 'owner'],
    [admin, 'admin'],
    [member, 'member'],
  ] as const)
    await documents.insert(teamMembers, newMember(team.id, user.id, role));
  for (const user of [member, owner, admin]) await post.add({ kind: 'team-removal', userId: user.id });
  const mails = await received(post, 2);
  expect(mails.flatMap(({ to }) => to).sort()).toEqual([owner.email, admin.email].sort());
  for (const { raw } of mails) expect(readable(raw)).toContain('“Night crew”: 2026-04-30 14:05 UTC');
});

test('sends no email for teams with a restored tier', async () => {
  const post = await startPost();
  const owner = await post.account();
  const team = await post.engine.documents.insert(teams, newTeam(owner.id));
  await post.engine.documents.insert(teamMembers, newMember(team.id, owner.id, 'owner'));
  for (const kind of ['team-lapse', 'team-removal'] as const) await post.add({ kind, userId: owner.id });
  await post.add({ kind: 'password-reset', userId: owner.id });
  expect((await received(post, 1))[0]!.raw).toContain('Set a new password');
});

test('sends no email for a cancelled or expired invite', async () => {
  const post = await startPost();
  const { documents } = post.engine;
  const team = await documents.insert(teams, newTeam(randomId()));
  const expired = await documents.insert(teamInvites, {
    id: randomId(),
    teamId: team.id,
    email: 'late@example.org',
    role: 'member',
    invitedById: randomId(),
    tokenHash: null,
    createdAt: 1,
    expiresAt: Date.now() - 1,
  });
  await post.add({ kind: 'team-invite', inviteId: expired.id });
  await post.add({ kind: 'team-invite', inviteId: randomId() });
  await eventually(async () =>
    expect(await post.engine.jobQueue.counts(mailQueue)).toMatchObject({ waiting: 0, active: 0 }),
  );
  expect(post.smtp.mails).toEqual([]);
  expect(await documents.get(teamInvites, expired.id)).toMatchObject({ tokenHash: null });
});

test('a newer link invalidates the older one of its kind', async () => {
  const post = await startPost();
  const user = await post.account();
  await post.add({ kind: 'verify-email', userId: user.id });
  await received(post, 1);
  await post.add({ kind: 'verify-email', userId: user.id });

  const [older, newer] = (await received(post, 2)).map(({ raw }) => hashSecret(tokenIn(raw)));
  expect(await findMailToken(post.engine.documents, 'verify-email', older!)).toBeNull();
  expect(await findMailToken(post.engine.documents, 'verify-email', newer!)).not.toBeNull();
});

test('sends no email to a removed, disabled or already verified account', async () => {
  const post = await startPost();
  const disabled = await post.account({ isActive: false });
  const verified = await post.account({ isVerified: true, wasVerified: true });
  const waiting = await post.account();
  await post.add({ kind: 'verify-email', userId: randomId() });
  await post.add({ kind: 'password-reset', userId: disabled.id });
  await post.add({ kind: 'verify-email', userId: verified.id });
  await post.add({ kind: 'verify-email', userId: waiting.id });

  await eventually(async () =>
    expect(await post.engine.jobQueue.counts(mailQueue)).toMatchObject({ waiting: 0, active: 0 }),
  );
  expect(post.smtp.mails.map(({ to }) => to)).toEqual([[waiting.email]]);
});

test('sends the old address a link that undoes the change', async () => {
  const post = await startPost();
  const user = await post.account();
  const change = {
    id: randomId(),
    userId: user.id,
    oldEmail: 'old@example.org',
    passwordHash: null,
    tokenHash: null,
    changedAt: Date.now(),
  };
  await post.engine.documents.insert(addressChanges, change);
  await post.add({ kind: 'address-changed', addressChangeId: change.id });

  const [mail] = await received(post, 1);
  expect(mail!.to).toEqual(['old@example.org']);
  expect(mail!.raw).not.toContain(user.email);
  const [, token] = /undo-email-change#token=([\w-]{43})/.exec(readable(mail!.raw))!;
  const stored = await post.engine.documents.get(addressChanges, change.id);
  expect(stored!.tokenHash).toBe(hashSecret(token!));
});

test('sends an email later after a temporary rejection', async () => {
  const post = await startPost();
  const user = await post.account();
  post.smtp.refuse(451);
  await post.add({ kind: 'verify-email', userId: user.id });

  const [mail] = await received(post, 1);
  expect(await findMailToken(post.engine.documents, 'verify-email', hashSecret(tokenIn(mail!.raw)))).not.toBeNull();
});

test('does not retry an email after a permanent rejection', async () => {
  const post = await startPost();
  const user = await post.account();
  post.smtp.refuse(550);
  await post.add({ kind: 'verify-email', userId: user.id });

  const failed = await eventually(async () => {
    const page = await post.engine.jobQueue.failed(mailQueue, { limit: 10, offset: 0 });
    expect(page).toHaveLength(1);
    return page;
  });
  expect(failed[0]).toMatchObject({ attempt: 1, data: { kind: 'verify-email', userId: user.id } });
});

test('line breaks in a name add no header and no recipient', async () => {
  const smtp = await startSmtpSimulator();
  own.add(() => smtp.close());
  const mailer = openSmtpMailer({ url: smtp.url, from: 'Tocsin <tocsin@example.org>', connections: 1 });
  own.add(() => mailer.close());
  const name = 'Eve\r\nBcc: victim@example.org\r\n\r\nhello';
  await mailer.send('verify-email', {
    to: { name, address: 'eve@example.org' },
    subject: `a\r\nBcc: victim@example.org`,
    text: 'x',
    html: 'x',
    link: null,
  });

  expect(smtp.mails[0]!.to).toEqual(['eve@example.org']);
  expect(smtp.mails[0]!.raw).not.toMatch(/^Bcc:/im);
});

test('writes each email to a private file with its link in a header if there is no mail server', async () => {
  const post = await startPost({ intoFiles: true });
  const user = await post.account();
  await post.add({ kind: 'verify-email', userId: user.id });

  const folder = join(post.dataDir, 'mail');
  const name = await eventually(() => readdirSync(folder).find((file) => file.endsWith('.eml')) ?? false);
  const text = readFileSync(join(folder, name), 'utf8');
  const link = /^X-Tocsin-Link: (\S+)\r$/m.exec(text)![1]!;
  expect(
    await findMailToken(post.engine.documents, 'verify-email', hashSecret(new URL(link).searchParams.get('token')!)),
  ).toMatchObject({ userId: user.id });
  expect(text).toContain(`<${user.email}>`);
  expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
});
