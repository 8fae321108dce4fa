import { AppError } from '@tocsin/shared/domain/errors.ts';
import { managesTeam, type Team, type TeamInvite, type TeamMember } from '@tocsin/shared/domain/teams/team.ts';
import { hashSecret } from '@tocsin/shared/platform/secrets.ts';
import { write, type Documents } from '@tocsin/shared/ports/documents.ts';
import type { Audit } from '@tocsin/shared/collections/audit-log.ts';
import { commitWithinQuota, type Prepared } from '@tocsin/shared/collections/quota-guards.ts';
import { findInviteByToken, isListedInvite, teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { findMember, findTeam, teamMembers, teams } from '@tocsin/shared/collections/teams.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import { teamSchema } from '@tocsin/shared/wire/team.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../../api-deps.ts';
import { auditOf } from '../../../audit.ts';
import { route, type Route } from '../../../http/route.ts';
import { describeTeam, type OpenTeam } from '../describe-teams.ts';
import { requireActiveTeam } from '../require-active-team.ts';
import { requireSeat } from '../require-seat.ts';
import { subscribeSoon } from '../subscriptions/settle-soon.ts';
import { requireRoomForMembership } from '../team-limit.ts';

/** `POST /api/teams/invites/accept` */
export function acceptInvite(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'acceptTeamInvite',
    method: 'POST',
    path: '/api/teams/invites/accept',
    summary: 'Join a team with the emailed token',
    audience: 'account',
    scope: 'account:write',
    body: z.object({ token: z.string() }),
    errors: {
      400: 'Malformed JSON, or the token is unknown, used, cancelled or expired.',
      409: 'The caller is already a member.',
    },
    success: { status: 200, schema: teamSchema, description: 'The team that the caller joined' },
    async handle(context, { body }) {
      const { documents } = deps.engine;
      const { userId } = context.account();
      const token = { tokenHash: hashSecret(body.token), now: context.now };
      const {
        team: { id: teamId, ownerId },
      } = await findOpenInvite(documents, token);
      const memberId = deps.makeId();
      const joined = await commitWithinQuota(documents, ownerId, () =>
        prepare(documents, userId, { ...token, teamId, memberId, audit: auditOf(deps, context) }),
      );
      await deps.directory.changed({ kind: 'member', teamId: joined.team.id, userId });
      await subscribeSoon(deps, memberId);
      return { status: 200, body: await describeTeam(documents, joined) };
    },
  });
}

/**
 * Throws 400 if the token is unknown or used, if its invite was cancelled or is no longer listed, or if the inviter no
 * longer manages the team.
 */
async function findOpenInvite(
  documents: Documents,
  token: { tokenHash: string; now: number },
): Promise<{ invite: TeamInvite; inviter: TeamMember; team: Team }> {
  const invite = await findInviteByToken(documents, token.tokenHash);
  const team = invite === null || !isListedInvite(invite, token.now) ? null : await findTeam(documents, invite.teamId);
  const inviter = invite === null || team === null ? null : await findMember(documents, team.id, invite.invitedById);
  if (invite === null || team === null || inviter === null || !managesTeam(inviter.role))
    throw new AppError('invalid', 'Invalid or used token');
  return { invite, inviter, team };
}

/**
 * Replaces the invite with a membership. Throws 400 as above, 403 for an account other than the invited one, 403 for a
 * deactivated team, 400 for an expired invite, 403 for a full team, and 409 for a member.
 */
async function prepare(
  documents: Documents,
  userId: string,
  by: { tokenHash: string; now: number; teamId: string; memberId: string; audit: Audit },
): Promise<Prepared<OpenTeam>> {
  // Read before the invite, so that a membership created with this token is reported as a used token.
  const member = await findMember(documents, by.teamId, userId);
  const { invite, inviter, team } = await findOpenInvite(documents, by);
  const account = await documents.get(users, userId);
  if (account?.email !== invite.email)
    throw new AppError('forbidden', 'The invite is for another address: log in with the account that has it');
  // Any account can claim an email; only an account that verified it was invited.
  if (!account.isVerified) throw new AppError('forbidden', 'Email not verified');
  requireActiveTeam(team);
  if (invite.expiresAt <= by.now) throw new AppError('invalid', 'Invite has expired');
  const owner = await requireSeat(documents, team, userId);
  await requireRoomForMembership(documents, userId);
  if (member !== null) throw new AppError('conflict', 'Already a member');
  const { role } = invite;
  return {
    writes: [
      write.require(users, account),
      ...(owner.id === account.id ? [] : [write.require(users, owner)]),
      write.require(teams, team),
      write.require(teamMembers, inviter),
      write.remove(teamInvites, invite.id, invite.version),
      write.insert(teamMembers, {
        id: by.memberId,
        teamId: team.id,
        userId,
        role,
        joinedAt: by.now,
        subscribesSince: by.now,
      }),
      ...by.audit({
        action: 'team.member_added',
        subject: { id: userId },
        within: { type: 'team', id: team.id },
        details: { role, invite_id: invite.id },
      }),
    ],
    result: { team, role },
  };
}
