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
  return readersAmong(activeIds, topic, await findTeamRoles(documents, topic));
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

/** Returns the relevant roles: a public topic needs none. One lookup for all users, because teams are small. */
export async function findTeamRoles(
  documents: Documents,
  topic: Pick<TopicAccess, 'teamId' | 'accessLevel'>,
): Promise<ReadonlyMap<string, Role>> {
  if (topic.teamId === null || topic.accessLevel === 'public') return new Map();
  const members = await findMembers(documents, topic.teamId);
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
