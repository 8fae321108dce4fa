import type { Role, Team, TeamMember } from '../domain/teams/team.ts';
import type { Collection, Documents } from '../ports/documents.ts';

export const teams: Collection<Team> = {
  name: 'teams',
  fields: {
    name: 'text',
    displayName: 'text',
    description: 'text',
    ownerId: 'text',
    isActive: 'boolean',
    createdAt: 'time',
    updatedAt: 'time',
    deactivatedAt: 'time',
    lapsedAt: 'time',
    notice: 'text',
    noticeAt: 'time',
    noticeSentAt: 'time',
    removal: 'text',
  },
  cached: { lateFields: ['noticeSentAt'] },
  uniqueKeys: { name: ['name'] },
  indexes: {
    byOwner: ['ownerId', 'createdAt'],
    byRemoval: ['removal', 'createdAt'],
    byActive: ['isActive', 'createdAt'],
  },
};

export const teamMembers: Collection<TeamMember> = {
  name: 'teamMembers',
  fields: { teamId: 'text', userId: 'text', role: 'text', joinedAt: 'time', subscribesSince: 'time' },
  cached: { lateFields: ['subscribesSince'] },
  uniqueKeys: { membership: ['teamId', 'userId'] },
  indexes: { byUser: ['userId', 'joinedAt'], byTeam: ['teamId', 'joinedAt'], bySubscribing: ['subscribesSince'] },
};

/** Teams of one owner, active or not. */
export const teamsMax = 100;

/** More members than any team can have. */
const membersMax = 10_000;

/** The maximum number of teams per account, so that lists stay fast. */
export const membershipsMax = 1_000;

/** Returns the team, or null if it does not exist or its removal has begun. */
export async function findTeam(documents: Documents, id: string): Promise<Team | null> {
  const team = await documents.get(teams, id);
  return team === null || team.removal !== null ? null : team;
}

/** Returns the team by name, or null if it does not exist or its removal has begun. */
export async function findTeamByName(documents: Documents, name: string): Promise<Team | null> {
  const [team] = await documents.find(teams, { index: 'name', equals: { name }, limit: 1 });
  return team === undefined || team.removal !== null ? null : team;
}

/** Returns the owner's teams, newest first, without those whose removal has begun. */
export async function findOwnedTeams(documents: Documents, ownerId: string): Promise<Team[]> {
  const found = await documents.find(teams, {
    index: 'byOwner',
    equals: { ownerId },
    descending: true,
    limit: 2 * teamsMax,
  });
  return found.filter(({ removal }) => removal === null);
}

/** Returns the user's membership in the team, or null. */
export async function findMember(documents: Documents, teamId: string, userId: string): Promise<TeamMember | null> {
  const [member] = await documents.find(teamMembers, { index: 'membership', equals: { teamId, userId }, limit: 1 });
  return member ?? null;
}

/** Returns the members of the team, newest first. */
export function findMembers(documents: Documents, teamId: string): Promise<TeamMember[]> {
  return documents.find(teamMembers, { index: 'byTeam', equals: { teamId }, descending: true, limit: membersMax });
}

export function countMembers(documents: Documents, teamId: string): Promise<number> {
  return documents.count(teamMembers, { index: 'byTeam', equals: { teamId } });
}

/** Returns the user's role in the team, or null. */
export async function findTeamRole(documents: Documents, teamId: string, userId: string): Promise<Role | null> {
  return (await findMember(documents, teamId, userId))?.role ?? null;
}

/** Returns the user's teams, active or not, with the user's role, newest team first. */
export async function findMemberships(documents: Documents, userId: string): Promise<{ team: Team; role: Role }[]> {
  const roles = await findRoles(documents, userId);
  const found: Team[] = [];
  const ids = [...roles.keys()];
  for (let at = 0; at < ids.length; at += membershipsMax)
    found.push(...(await documents.getMany(teams, ids.slice(at, at + membershipsMax))));
  return found
    .filter(({ removal }) => removal === null)
    .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
    .map((team) => ({ team, role: roles.get(team.id)! }));
}

/** Returns the user's role per team, oldest membership first. */
export async function findRoles(documents: Documents, userId: string): Promise<Map<string, Role>> {
  // The limit is checked without a lock, so concurrent requests can exceed it.
  const members = await documents.find(teamMembers, { index: 'byUser', equals: { userId }, limit: 2 * membershipsMax });
  return new Map(members.map((member) => [member.teamId, member.role]));
}
