import { type TeamJson, toTeamJson } from '@tocsin/shared/wire/team.ts';
import type { Role, Team } from '@tocsin/shared/domain/teams/team.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { countMembers } from '@tocsin/shared/collections/teams.ts';

/** A team and the caller's role. */
export interface OpenTeam {
  readonly team: Team;
  readonly role: Role;
}

/** Returns the team as the caller sees it. */
export async function describeTeam(documents: Documents, { team, role }: OpenTeam): Promise<TeamJson> {
  return { ...toTeamJson(team, await countMembers(documents, team.id)), my_role: role };
}

/** Returns the teams as the caller sees them, in the given order. */
export function describeTeams(documents: Documents, found: readonly OpenTeam[]): Promise<TeamJson[]> {
  return Promise.all(found.map((one) => describeTeam(documents, one)));
}
