import { AppError } from '@tocsin/shared/domain/errors.ts';
import { inviteLifetimeMs, type AssignableRole, type TeamInvite } from '@tocsin/shared/domain/teams/team.ts';
import { write, type Documents } from '@tocsin/shared/ports/documents.ts';
import type { Audit } from '@tocsin/shared/collections/audit-log.ts';
import { commitWithinQuota, type Prepared } from '@tocsin/shared/collections/quota-guards.ts';
import { countInvites, findInviteFor, invitesMax, teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { findMember, findTeam, teams } from '@tocsin/shared/collections/teams.ts';
import { findUserByEmail } from '@tocsin/shared/collections/users.ts';
import { requestMail } from '@tocsin/shared/runtime/request-mail.ts';
import { inviteSchema, toInviteJson } from '@tocsin/shared/wire/invite.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../../api-deps.ts';
import { auditOf, auditOfSystem } from '../../../audit.ts';
import { emailField } from '../../../http/fields.ts';
import { route, type RequestContext, type Route } from '../../../http/route.ts';
import { withinMailLimits } from '../../../access/mail-limits.ts';
import { loadTeam } from '../load-team.ts';
import { requireActiveTeam } from '../require-active-team.ts';
import { requireSeat } from '../require-seat.ts';
import { teamFields } from '../team-fields.ts';

const body = z.object({ email: emailField, role: teamFields.role });

/** `POST /api/teams/{team_id}/invites` */
export function createInvite(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId' | 'wholeAddress'>,
): Route {
  const load = loadTeam(deps, 'manager');
  return route({
    id: 'createTeamInvite',
    method: 'POST',
    path: '/api/teams/{team_id}/invites',
    summary: 'Invite an email address to a team',
    audience: 'account',
    scope: 'account:write',
    body,
    errors: { 409: 'The email belongs to a member or is already invited.' },
    success: { status: 201, schema: inviteSchema, description: 'The invite; only its email contains the link' },
    async load(context: RequestContext) {
      const { team } = await load(context);
      requireActiveTeam(team);
      return team;
    },
    async handle(context, { loaded: { id: teamId }, body: { email, role } }) {
      const { documents } = deps.engine;
      const wish = {
        teamId,
        email,
        role,
        invitedById: context.account().userId,
        now: context.now,
        audit: auditOf(deps, context),
      };
      const invite = await withinMailLimits(deps, context, async () => {
        const stored = await commitWithinQuota(documents, teamId, () => prepare(documents, deps.makeId(), wish));
        await mail(deps, stored);
        return stored;
      });
      return { status: 201, body: toInviteJson(invite, context.now) };
    },
  });
}

interface Wish {
  readonly teamId: string;
  readonly email: string;
  readonly role: AssignableRole;
  readonly invitedById: string;
  readonly now: number;
  readonly audit: Audit;
}

/** Removes the invite if its email cannot be queued, because it would only block the next one. */
async function mail(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'log' | 'makeId'>,
  { id, email, teamId, invitedById }: TeamInvite,
): Promise<void> {
  try {
    await requestMail(deps, { email, requester: invitedById }, { kind: 'team-invite', inviteId: id });
  } catch (error) {
    const recorded = auditOfSystem(deps)({
      action: 'team.invite_cancelled',
      subject: { id },
      within: { type: 'team', id: teamId },
      details: {},
    });
    await deps.engine.documents.commit([write.remove(teamInvites, id), ...recorded]);
    throw error;
  }
}

/**
 * Stores the invite, replacing an expired one for this email. Throws 404, 403 for a full team or too many invites, 409.
 */
async function prepare(documents: Documents, id: string, wish: Wish): Promise<Prepared<TeamInvite>> {
  const { teamId, email, now } = wish;
  const team = await findTeam(documents, teamId);
  if (team === null) throw new AppError('not_found', 'Team not found');
  requireActiveTeam(team);
  const invitee = await findUserByEmail(documents, email);
  await requireSeat(documents, team, invitee?.id ?? null);
  const former = await findInviteFor(documents, teamId, email);
  const replaces = former !== null && former.expiresAt <= now;
  if (!replaces && (await countInvites(documents, teamId, now)) >= invitesMax)
    throw new AppError('forbidden', 'Invite limit reached');
  if (invitee !== null && (await findMember(documents, teamId, invitee.id)) !== null)
    throw new AppError('conflict', 'Already a member');
  if (former !== null && !replaces) throw new AppError('conflict', 'Already invited');
  const invite: TeamInvite = {
    id,
    version: 1,
    teamId,
    email,
    role: wish.role,
    invitedById: wish.invitedById,
    tokenHash: null,
    createdAt: now,
    expiresAt: now + inviteLifetimeMs,
  };
  return {
    writes: [
      write.require(teams, team),
      ...(former === null ? [] : [write.remove(teamInvites, former.id, former.version)]),
      write.insert(teamInvites, invite),
      ...wish.audit({
        action: 'team.invited',
        subject: { id },
        within: { type: 'team', id: teamId },
        details: { role: wish.role },
      }),
    ],
    result: invite,
  };
}
