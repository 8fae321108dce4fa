import type { MailJob } from '@tocsin/shared/domain/accounts/mail-job.ts';
import { managesTeam } from '@tocsin/shared/domain/teams/team.ts';
import { removalTime, type TeamPeriods } from '@tocsin/shared/domain/teams/team-lifecycle.ts';
import { mailTokenLifetimeMs, type MailTokenPurpose } from '@tocsin/shared/domain/accounts/mail-token.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import type { Clock } from '@tocsin/shared/platform/clock.ts';
import type { MakeId } from '@tocsin/shared/platform/ids.ts';
import { hashSecret, makeSecret } from '@tocsin/shared/platform/secrets.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { addressChanges } from '@tocsin/shared/collections/address-changes.ts';
import { storeMailToken } from '@tocsin/shared/collections/mail-tokens.ts';
import { setInviteToken } from '@tocsin/shared/collections/team-invites.ts';
import { findMemberships, findOwnedTeams, findTeam } from '@tocsin/shared/collections/teams.ts';
import { findUserByEmail, users } from '@tocsin/shared/collections/users.ts';
import { addressChangedMail } from './templates/address-changed-mail.ts';
import type { Mail } from './templates/mail.ts';
import { passwordResetMail } from './templates/password-reset-mail.ts';
import { teamInviteMail } from './templates/team-invite-mail.ts';
import { teamLapseMail } from './templates/team-lapse-mail.ts';
import { teamRemovalMail } from './templates/team-removal-mail.ts';
import { verifyEmailMail } from './templates/verify-email-mail.ts';

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
 * its address was verified meanwhile, the invite is closed, or no team is affected. For an email with a token, stores the token's hash, which invalidates the earlier token.
 */
export async function composeMail(deps: ComposeMailDeps, job: MailJob): Promise<Mail | null> {
  switch (job.kind) {
    case 'verify-email': {
      const user = await findRecipient(deps, job.userId);
      if (user === null || user.isVerified) return null;
      return verifyEmailMail(
        recipient(user),
        `${deps.baseUrl}/auth/verify-email?token=${await makeToken(deps, 'verify-email', user)}`,
      );
    }
    case 'password-reset': {
      const user = await findRecipient(deps, job.userId);
      if (user === null) return null;
      return passwordResetMail(
        recipient(user),
        `${deps.appUrl}/auth/reset-password#token=${await makeToken(deps, 'password-reset', user)}`,
      );
    }
    case 'address-changed': {
      const change = await deps.documents.get(addressChanges, job.addressChangeId);
      const user = change === null ? null : await findRecipient(deps, change.userId);
      return change === null || user === null
        ? null
        : addressChangedMail({ name: user.username, address: change.oldEmail });
    }
    case 'team-invite':
      return composeInvite(deps, job.inviteId);
    case 'team-lapse':
      return composeLapse(deps, job.userId);
    case 'team-removal':
      return composeRemoval(deps, job.userId);
  }
}

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
