import { AppError } from '@tocsin/shared/domain/errors.ts';
import { removeMember as removeFromTeam } from '@tocsin/shared/operations/teams/remove-member.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { auditOf } from '../../audit.ts';
import { route, type Route } from '../../http/route.ts';
import { loadMember, memberNotFound } from './load-member.ts';

/**
 * `DELETE /api/teams/{team_id}/members/{user_id}`: managers remove anyone except the owner, members remove themselves.
 */
export function removeMember(deps: Pick<ApiDeps, 'clock' | 'directory' | 'engine' | 'makeId' | 'wholeAddress'>): Route {
  return route({
    id: 'removeTeamMember',
    method: 'DELETE',
    path: '/api/teams/{team_id}/members/{user_id}',
    summary: 'Remove a member or leave the team',
    audience: 'account',
    scope: 'account:write',
    errors: { 400: 'The member is the owner.' },
    success: {
      status: 204,
      schema: null,
      description:
        "Removed, with the streams and subscriptions of the team's private topics, the subscriptions that the team set, and " +
        "the member's topic tokens and invites of the team",
    },
    load: (context) => loadMember(deps, context, 'orSelf'),
    async handle(context, { loaded: { teamId, userId, role } }) {
      if (role === 'owner') throw new AppError('invalid', 'The owner cannot be removed');
      const changes = await removeFromTeam(deps.engine.documents, teamId, userId, auditOf(deps, context));
      if (changes === null) throw memberNotFound();
      await deps.directory.changed(...changes);
      return { status: 204 };
    },
  });
}
