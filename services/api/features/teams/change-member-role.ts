import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { AssignableRole, TeamMember } from '@tocsin/shared/domain/teams/team.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import type { Audit } from '@tocsin/shared/collections/audit-log.ts';
import { describeMembers } from '@tocsin/shared/operations/teams/describe-members.ts';
import { voidGrants } from '@tocsin/shared/operations/teams/void-grants.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { teamMembers } from '@tocsin/shared/collections/teams.ts';
import { updateWith } from '@tocsin/shared/documents/update-with.ts';
import { memberSchema } from '@tocsin/shared/wire/team.ts';
import { z } from 'zod';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { loadMember, memberNotFound } from './load-member.ts';
import { teamFields } from './team-fields.ts';

/** `PATCH /api/teams/{team_id}/members/{user_id}` */
export function changeMemberRole(
  deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>,
): Route {
  return route({
    id: 'changeTeamMemberRole',
    method: 'PATCH',
    path: '/api/teams/{team_id}/members/{user_id}',
    summary: 'Change the role of a member',
    audience: 'account',
    scope: 'account:write',
    body: z.object({ role: teamFields.role.optional() }),
    errors: { 400: 'Malformed JSON, or the member is the owner.' },
    success: {
      status: 200,
      schema: memberSchema,
      description:
        "The member. A demotion voids the member's topic tokens and invites of the team, and pauses the member's sinks.",
    },
    load: (context) => loadMember(deps, context, 'managersOnly'),
    async handle(context, { loaded, body: { role } }) {
      if (loaded.role === 'owner') throw new AppError('invalid', "The owner's role cannot be changed");
      const { documents } = deps.engine;
      const audit = auditOf(deps, context);
      const voided = role === 'member' ? await voidGrants(documents, loaded, audit) : [];
      const member = role === undefined ? loaded : await setRole(documents, loaded.id, role, audit);
      await deps.directory.changed(...voided, { kind: 'member', teamId: member.teamId, userId: member.userId });
      const [json] = await describeMembers(documents, [member]);
      if (json === undefined) throw memberNotFound();
      return { status: 200, body: json };
    },
  });
}

function setRole(documents: Documents, id: string, role: AssignableRole, audit: Audit): Promise<TeamMember> {
  return retryStale(async () => {
    const member = await documents.get(teamMembers, id);
    if (member === null) throw memberNotFound();
    if (member.role === role) return member;
    const { teamId, userId, role: former } = member;
    const recorded = audit({
      action: 'team.role_changed',
      subject: { id: userId },
      within: { type: 'team', id: teamId },
      details: { role, former_role: former },
    });
    return updateWith(documents, teamMembers, member, { set: { role }, otherWrites: recorded });
  });
}
