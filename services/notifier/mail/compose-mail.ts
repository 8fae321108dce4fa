import type { MailJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { managesTeam } from '@tocsin/shared/domain/teams/team.ts';
import { removalTime, type TeamPeriods } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import { mailTokenLifetimeMs, type MailTokenPurpose } from '@tocsin/shared/domain/accounts/mail-token.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { setUndoToken } from '@tocsin/shared/collections/address-changes.ts';
import { storeMailToken } from '@tocsin/shared/collections/mail-tokens.ts';
import { findRegistrations, setRegistrationToken } from '@tocsin/shared/collections/registrations.ts';
import { setInviteToken } from '@tocsin/shared/collections/team-invites.ts';
import { sinks } from '@tocsin/shared/collections/sinks/sinks.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { findMemberships, findOwnedTeams, findTeam } from '@tocsin/shared/collections/teams.ts';
import { findUserByEmail, users } from '@tocsin/shared/collections/users.ts';
import { composeNotice } from './compose-notice.ts';
import { addressChangedMail } from './templates/address-changed-mail.ts';
import type { Mail } from './templates/mail.ts';
import { sinkPausedMail } from './templates/sink-paused-mail.ts';
import { passwordResetMail } from './templates/password-reset-mail.ts';
import { teamInviteMail } from './templates/team-invite-mail.ts';
import { teamLapseMail } from './templates/team-lapse-mail.ts';
import { teamRemovalMail } from './templates/team-removal-mail.ts';
import { verifyEmailMail, type VerificationLink } from './templates/verify-email-mail.ts';

export interface ComposeMailDeps {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** Public URLs of the API and the app. Never taken from a request, so that links cannot point elsewhere. */
  readonly baseUrl: string;
  readonly appUrl: string;
  readonly teamPeriods: TeamPeriods;
}

/**
 * Composes the job's email from current data, or returns null if it is obsolete: the account was removed or disabled,
 * its address was verified meanwhile, the invite is closed, or no team is affected. For an email with a token, stores
 * the token's hash, which invalidates the earlier token.
 */
export async function composeMail(deps: ComposeMailDeps, job: MailJob): Promise<Mail | null> {
  switch (job.kind) {
    case 'verify-email':
      return composeVerification(deps, job);
    case 'password-reset': {
      const user = await findRecipient(deps, job.userId);
      if (user === null) return null;
      return passwordResetMail(
        recipient(user),
        `${deps.appUrl}/auth/reset-password#token=${await makeToken(deps, 'password-reset', user)}`,
      );
    }
    case 'address-changed': {
      const token = makeSecret();
      const change = await setUndoToken(deps.documents, job.addressChangeId, hashSecret(token));
      const user = change === null ? null : await findRecipient(deps, change.userId);
      if (change === null || user === null) return null;
      const link = `${deps.appUrl}/auth/undo-email-change#token=${token}`;
      return addressChangedMail({ name: user.username, address: change.oldEmail }, link);
    }
    case 'team-invite':
      return composeInvite(deps, job.inviteId);
    case 'team-lapse':
      return composeLapse(deps, job.userId);
    case 'team-removal':
      return composeRemoval(deps, job.userId);
    case 'sink-paused':
      return composeSinkPause(deps, job.sinkId);
    default:
      return composeNotice(deps, job);
  }
}

/** Null if the address was verified meanwhile, or the registration or the account was removed. */
async function composeVerification(
  deps: ComposeMailDeps,
  { userId, registrationId }: MailJob & { kind: 'verify-email' },
): Promise<Mail | null> {
  if (registrationId !== undefined) return composeRegistrations(deps, [registrationId]);
  const user = await findRecipient(deps, userId);
  if (user === null || user.isVerified) return null;
  const waiting = user.wasVerified ? [] : await findRegistrations(deps.documents, user.email);
  if (waiting.length > 0)
    return composeRegistrations(
      deps,
      waiting.map(({ id }) => id),
    );
  const token = await makeToken(deps, 'verify-email', user);
  return verifyEmailMail(recipient(user), [{ username: user.username, link: verificationLink(deps, token) }]);
}

/** A link for each registration, so that the reader chooses which one is theirs. */
async function composeRegistrations(deps: ComposeMailDeps, ids: readonly string[]): Promise<Mail | null> {
  const links: VerificationLink[] = [];
  let email = '';
  for (const id of ids) {
    const token = makeSecret();
    const tokenExpiresAt = deps.clock() + mailTokenLifetimeMs['verify-email'];
    const found = await setRegistrationToken(deps.documents, id, { tokenHash: hashSecret(token), tokenExpiresAt });
    if (found === null) continue;
    email = found.email;
    links.push({ username: found.username, link: verificationLink(deps, token) });
  }
  if (links.length === 0) return null;
  return verifyEmailMail({ name: links.length === 1 ? links[0]!.username : email, address: email }, links);
}

const verificationLink = ({ baseUrl }: ComposeMailDeps, token: string): string =>
  `${baseUrl}/auth/verify-email?token=${token}`;

/** Null if the tier was restored meanwhile. */
async function composeLapse({ documents, teamPeriods }: ComposeMailDeps, userId: string): Promise<Mail | null> {
  const user = await findRecipient({ documents }, userId);
  const lapsed = (await findOwnedTeams(documents, userId)).filter(
    ({ isActive, lapsedAt }) => isActive && lapsedAt !== null,
  );
  if (user === null || lapsed.length === 0) return null;
  return teamLapseMail(
    recipient(user),
    lapsed.map(({ displayName, lapsedAt }) => ({ team: displayName, at: lapsedAt! + teamPeriods.graceMs })),
  );
}

/** Null if the teams are active again or removed, or the user no longer manages them. */
async function composeRemoval({ documents, teamPeriods }: ComposeMailDeps, userId: string): Promise<Mail | null> {
  const user = await findRecipient({ documents }, userId);
  const announced = (await findMemberships(documents, userId)).filter(
    ({ team, role }) => managesTeam(role) && !team.isActive && team.notice !== null,
  );
  if (user === null || announced.length === 0) return null;
  return teamRemovalMail(
    recipient(user),
    announced.map(({ team }) => ({ team: team.displayName, at: removalTime(team, teamPeriods) })),
  );
}

/** Null if the sink, its topic or its creator was removed. */
async function composeSinkPause({ documents }: ComposeMailDeps, sinkId: string): Promise<Mail | null> {
  const sink = await documents.get(sinks, sinkId);
  const topic = sink === null ? null : await documents.get(topics, sink.topicId);
  const user = sink === null ? null : await findRecipient({ documents }, sink.createdBy);
  if (sink === null || topic === null || user === null) return null;
  return sinkPausedMail(recipient(user), { name: sink.name, topic: topic.name, since: sink.failingSince });
}

/** Null if the invite was cancelled, accepted or expired meanwhile. */
async function composeInvite(deps: ComposeMailDeps, inviteId: string): Promise<Mail | null> {
  const { documents } = deps;
  const token = makeSecret();
  const invite = await setInviteToken(documents, inviteId, { tokenHash: hashSecret(token), now: deps.clock() });
  const team = invite === null ? null : await findTeam(documents, invite.teamId);
  if (invite === null || team === null) return null;
  const [account, inviter] = await Promise.all([
    findUserByEmail(documents, invite.email),
    documents.get(users, invite.invitedById),
  ]);
  return teamInviteMail(
    { name: account?.username ?? invite.email, address: invite.email },
    {
      team: team.displayName,
      inviter: inviter?.username ?? null,
      role: invite.role,
      link: `${deps.appUrl}/auth/accept-invite#token=${token}`,
    },
  );
}

const recipient = (user: User) => ({ name: user.username, address: user.email });

async function findRecipient(deps: Pick<ComposeMailDeps, 'documents'>, userId: string): Promise<User | null> {
  const user = await deps.documents.get(users, userId);
  return user === null || !user.isActive ? null : user;
}

async function makeToken(deps: ComposeMailDeps, purpose: MailTokenPurpose, user: User): Promise<string> {
  const token = makeSecret();
  await storeMailToken(deps.documents, {
    id: deps.makeId(),
    purpose,
    userId: user.id,
    email: user.email,
    tokenHash: hashSecret(token),
    expiresAt: deps.clock() + mailTokenLifetimeMs[purpose],
  });
  return token;
}
