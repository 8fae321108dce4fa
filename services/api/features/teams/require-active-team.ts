import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';

/** Throws 403 for a team that is deactivated: nobody new comes into it. */
export function requireActiveTeam(team: Team): void {
  if (!team.isActive) throw new AppError('forbidden', 'Team is deactivated');
}
