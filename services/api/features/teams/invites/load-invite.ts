import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Team, TeamInvite } from '@tocsin/shared/domain/teams/team.ts';
import { isListedInvite, teamInvites } from '@tocsin/shared/collections/team-invites.ts';
import { findTeam, findTeamRole } from '@tocsin/shared/collections/teams.ts';
import type { ApiDeps } from '../../../api-deps.ts';
import { pathId } from '../../../http/load-topic.ts';
import type { RequestContext } from '../../../http/route.ts';
import { requireStanding } from '../load-team.ts';

export interface OpenInvite {
  readonly invite: TeamInvite;
  readonly team: Team;
}

/**
 * Returns the invite in the path for a manager of its team. Throws 404 if it is cancelled, accepted or no longer
 * listed, or if the caller is not in the team; 403 for members without the right.
 */
export async function loadInvite(deps: Pick<ApiDeps, 'engine'>, context: RequestContext): Promise<OpenInvite> {
  const { documents } = deps.engine;
  const { userId } = context.account();
  const invite = await documents.get(teamInvites, pathId(context, 'invite_id'));
  if (invite === null || !isListedInvite(invite, context.now)) throw inviteNotFound();
  const team = await findTeam(documents, invite.teamId);
  const role = team === null ? null : await findTeamRole(documents, team.id, userId);
  if (team === null || role === null) throw inviteNotFound();
  requireStanding(role, 'manager');
  return { invite, team };
}

export const inviteNotFound = () => new AppError('not_found', 'Invite not found');
