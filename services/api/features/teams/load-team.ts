import { AppError } from '@tocsin/shared/domain/errors.ts';
import { managesTeam, type Role, type Team } from '@tocsin/shared/domain/teams/team.ts';
import { isUuid } from '@tocsin/shared/platform/ids.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { findTeam, findTeamRole } from '@tocsin/shared/collections/teams.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { pathId } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';
import type { OpenTeam } from './describe-teams.ts';

/** The required role of the caller. */
export type Standing = 'member' | 'manager' | 'owner';

/**
 * A route's `load`: the team in the path for a caller with the required role. Throws 404 for an unknown team, 401
 * without a credential, and 403 for outsiders and insufficient roles. Reads the store, not a cache.
 */
export function loadTeam(
  deps: Pick<ApiDeps, 'engine'>,
  standing: Standing,
): (context: RequestContext) => Promise<OpenTeam> {
  return async (context) => {
    const open = await findOpenTeam(deps.engine.documents, context);
    requireStanding(open.role, standing);
    return open;
  };
}

/** Returns the team in the path and the caller's role. Throws 404, 401, and 403 for outsiders. */
export async function findOpenTeam(documents: Documents, context: RequestContext): Promise<OpenTeam> {
  // A malformed ID cannot match anything, so authenticate first.
  if (!isUuid(context.params['team_id']!)) context.account();
  const team = await requireTeam(documents, pathId(context, 'team_id'));
  const role = await findTeamRole(documents, team.id, context.account().userId);
  if (role !== null) return { team, role };
  // A removal that began meanwhile may have removed the role.
  await requireTeam(documents, team.id);
  throw insufficient();
}

async function requireTeam(documents: Documents, id: string): Promise<Team> {
  const team = await findTeam(documents, id);
  if (team === null) throw new AppError('not_found', 'Team not found');
  return team;
}

/** Throws 403 for an insufficient role. */
export function requireStanding(role: Role, standing: Standing): void {
  const isEnough = { member: true, manager: managesTeam(role), owner: role === 'owner' }[standing];
  if (!isEnough) throw insufficient();
}

const insufficient = () => new AppError('forbidden', 'Insufficient permissions');
