import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { TeamMember } from '@tocsin/shared/domain/teams/team.ts';
import { findMember } from '@tocsin/shared/collections/teams.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { pathId } from '../../http/load-topic.ts';
import type { RequestContext } from '../../http/route.ts';
import { findOpenTeam, requireStanding } from './load-team.ts';

/**
 * Returns the member in the path for a manager of the team, with `orSelf` also for the member. Throws 404 and 403
 * like teams, and 404 for an account outside the team.
 */
export async function loadMember(
  deps: Pick<ApiDeps, 'engine'>,
  context: RequestContext,
  orSelf: 'managersOnly' | 'orSelf',
): Promise<TeamMember> {
  const { documents } = deps.engine;
  const { team, role } = await findOpenTeam(documents, context);
  const member = await findMember(documents, team.id, pathId(context, 'user_id'));
  if (member === null) throw memberNotFound();
  const isSelf = orSelf === 'orSelf' && member.userId === context.account().userId;
  if (!isSelf) requireStanding(role, 'manager');
  return member;
}

export const memberNotFound = () => new AppError('not_found', 'Member not found');
