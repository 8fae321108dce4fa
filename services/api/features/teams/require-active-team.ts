import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';

/** Throws 403 for a deactivated team, which accepts no new members. */
export function requireActiveTeam(team: Team): void {
  if (!team.isActive) throw new AppError('forbidden', 'Team is deactivated');
}
