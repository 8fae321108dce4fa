import { z } from 'zod';
import type { User } from '../domain/accounts/user.ts';
import type { Team, TeamMember } from '../domain/teams/team.ts';
import { removalTime, type TeamPeriods } from '../domain/teams/team-lifecycle.ts';
import { toIso } from '../domain/to-iso.ts';

const roleSchema = z.enum(['owner', 'admin', 'member']);

export const teamSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    display_name: z.string(),
    description: z.string(),
    owner_id: z.uuid(),
    member_count: z.int(),
    my_role: roleSchema,
    is_active: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Team' });

/** When a deactivated team was deactivated and when it will be removed. */
export const deactivationSchema = z.object({ deactivated_at: z.iso.datetime(), removal_at: z.iso.datetime() });

/** A member of a team. `is_active` is the state of the account. */
export const memberSchema = z
  .object({
    id: z.uuid(),
    team_id: z.uuid(),
    user_id: z.uuid(),
    username: z.string(),
    email: z.string(),
    role: roleSchema,
    joined_at: z.iso.datetime(),
    is_active: z.boolean(),
  })
  .meta({ id: 'TeamMember' });

export type TeamJson = z.infer<typeof teamSchema>;
export type MemberJson = z.infer<typeof memberSchema>;

/** Returns the team without `my_role`, which depends on the caller. */
export function toTeamJson(team: Team, memberCount: number): Omit<TeamJson, 'my_role'> {
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

export function toDeactivationJson(team: Team, periods: TeamPeriods): z.infer<typeof deactivationSchema> {
  return { deactivated_at: toIso(team.deactivatedAt ?? team.updatedAt), removal_at: toIso(removalTime(team, periods)) };
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
