import type { Role, Team, TeamMember } from '../domain/team.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const teams: Collection<Team> = {
  name: 'teams',
  fields: {
    name: 'text', displayName: 'text', description: 'text', ownerId: 'text', isActive: 'boolean', createdAt: 'time',
    updatedAt: 'time', deactivatedAt: 'time',
  },
  uniqueKeys: { name: ['name'] },
  indexes: { byOwner: ['ownerId', 'createdAt'] },
};

export const teamMembers: Collection<TeamMember> = {
  name: 'teamMembers',
  fields: { teamId: 'text', userId: 'text', role: 'text', joinedAt: 'time' },
  uniqueKeys: { membership: ['teamId', 'userId'] },
  indexes: { byUser: ['userId', 'joinedAt'], byTeam: ['teamId', 'joinedAt'] },
};

/** The user's role in the team, or null. */
export async function findTeamRole(documents: Documents, teamId: string, userId: string): Promise<Role | null> {
  const [member] = await documents.find(teamMembers, { index: 'membership', equals: { teamId, userId }, limit: 1 });
  return member?.role ?? null;
}

/** Harm prevented: an account that was taken into thousands of teams making every listing slow. */
const membershipsMax = 1_000;

/** The user's role in each of their teams, the oldest memberships first. */
export async function findRoles(documents: Documents, userId: string): Promise<Map<string, Role>> {
  const members = await documents.find(teamMembers, { index: 'byUser', equals: { userId }, limit: membershipsMax });
  return new Map(members.map((member) => [member.teamId, member.role]));
}
