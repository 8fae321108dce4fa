import type { Role, Team, TeamMember } from '../domain/teams/team.ts';
import { removalTime, type TeamPeriods } from '../domain/teams/team-life.ts';
import { toIso } from '../domain/to-iso.ts';
import type { User } from '../domain/accounts/user.ts';

/** The team object of the interface, without who is looking. */
export function toTeamJson(team: Team, memberCount: number) {
  return {
    id: team.id,
    name: team.name,
    display_name: team.displayName,
    description: team.description,
    owner_id: team.ownerId,
    member_count: memberCount,
    is_active: team.isActive,
    created_at: toIso(team.createdAt),
    updated_at: toIso(team.updatedAt),
  };
}

/** Since when a deactivated team is so, and when it is removed. */
export function toDeactivationJson(team: Team, periods: TeamPeriods): { deactivated_at: string; removal_at: string } {
  return { deactivated_at: toIso(team.deactivatedAt ?? team.updatedAt), removal_at: toIso(removalTime(team, periods)) };
}

/** A member of a team. `is_active` is the account's. */
export interface MemberJson {
  readonly id: string;
  readonly team_id: string;
  readonly user_id: string;
  readonly username: string;
  readonly email: string;
  readonly role: Role;
  readonly joined_at: string;
  readonly is_active: boolean;
}

export function toMemberJson(member: TeamMember, user: User): MemberJson {
  return {
    id: member.id,
    team_id: member.teamId,
    user_id: member.userId,
    username: user.username,
    email: user.email,
    role: member.role,
    joined_at: toIso(member.joinedAt),
    is_active: user.isActive,
  };
}
