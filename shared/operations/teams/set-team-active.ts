import { AppError } from '../../domain/errors.ts';
import { fieldsWhenSet } from '../../domain/teams/team-lifecycle.ts';
import type { Team } from '../../domain/teams/team.ts';
import type { Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { findTeam, teams } from '../../collections/teams.ts';
import { updateWith } from '../../documents/update-with.ts';

/**
 * Deactivates a team, or reactivates it with all its data. Changes nothing if the team is already in that state. The
 * caller notifies the nodes (`{kind: 'team'}`). Throws `not_found` `Team not found`.
 */
export function setTeamActive(
  documents: Documents,
  teamId: string,
  to: { isActive: boolean; now: number },
  audit: Audit,
): Promise<Team> {
  return retryStale(async () => {
    const team = await findTeam(documents, teamId);
    if (team === null) throw new AppError('not_found', 'Team not found');
    if (team.isActive === to.isActive) return team;
    const recorded = audit({
      action: to.isActive ? 'team.reactivated' : 'team.deactivated',
      subject: { id: team.id, name: team.name },
      details: {},
    });
    return updateWith(documents, teams, team, { set: fieldsWhenSet(to), otherWrites: recorded });
  });
}
