import { mayUseTopic, type TopicAccess } from '../../domain/topics/access.ts';
import type { AccountCaller } from '../../domain/accounts/caller.ts';
import type { Role } from '../../domain/teams/team.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import { findMembers } from '../../collections/teams.ts';
import { users } from '../../collections/users.ts';

/** Returns which of the users (at most 1,000) may read the topic now, without disabled and deleted accounts. */
export async function findReaders(
  documents: Documents,
  topic: Topic,
  userIds: readonly string[],
): Promise<Set<string>> {
  const activeIds = await findActive(documents, userIds);
  const roles = await findTeamRoles(topic, (teamId) => rolesOfTeam(documents, teamId));
  return readersAmong(activeIds, topic, roles);
}

/** Returns which of the enabled accounts may read the topic with their roles in its team. */
export function readersAmong(
  activeIds: readonly string[],
  topic: Topic,
  roles: ReadonlyMap<string, Role>,
): Set<string> {
  return new Set(activeIds.filter((id) => mayRead(id, topic, roles.get(id) ?? null)));
}

/** Returns those of the IDs (at most 1,000) whose account exists and is enabled. */
export async function findActive(documents: Documents, userIds: readonly string[]): Promise<string[]> {
  const accounts = await documents.pick(users, userIds, ['isActive']);
  return accounts.flatMap(({ id, isActive }) => (isActive ? [id] : []));
}

/** Returns the relevant roles, which `rolesOf` reads for a team; a public topic needs none. */
export async function findTeamRoles(
  { teamId, accessLevel }: Pick<TopicAccess, 'teamId' | 'accessLevel'>,
  rolesOf: (teamId: string) => Promise<ReadonlyMap<string, Role>>,
): Promise<ReadonlyMap<string, Role>> {
  return teamId === null || accessLevel === 'public' ? new Map() : rolesOf(teamId);
}

/** Returns the roles of all members. One lookup, because most teams are small. */
export async function rolesOfTeam(documents: Documents, teamId: string): Promise<ReadonlyMap<string, Role>> {
  const members = await findMembers(documents, teamId);
  return new Map(members.map(({ userId, role }) => [userId, role]));
}

/** Whether the user may read the topic with this role in its team. */
export function mayRead(userId: string, topic: TopicAccess, role: Role | null): boolean {
  return mayUseTopic(asCaller(userId), topic, 'read', role);
}

/** The user as a login: a push shows no more than a login would. The tier does not matter for reading. */
function asCaller(userId: string): AccountCaller {
  return { kind: 'account', userId, name: '', tier: 'FREE', scopes: null, credentialId: 'push', expiresAt: null };
}
