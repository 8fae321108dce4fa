import type { Caller } from '../accounts/caller.ts';
import { AppError } from '../errors.ts';
import { managesTeam, type Role } from '../teams/team.ts';
import type { Topic } from './topic.ts';

/** The topic fields that decide access. */
export type TopicAccess = Pick<Topic, 'id' | 'ownerId' | 'teamId' | 'accessLevel'>;

export type TopicAct = 'read' | 'write' | 'manage';

/**
 * Whether the caller may act on the topic. `role` is the caller's role in the topic's team, or null. It counts
 * for logins only: an API key grants access only to private topics that its user owns.
 */
export function mayUseTopic(caller: Caller, topic: TopicAccess, act: TopicAct, role: Role | null): boolean {
  if (caller.kind === 'topic-token') {
    return act !== 'manage' && caller.topicId === topic.id && caller.permissions.includes(act);
  }
  const isPublic = topic.accessLevel === 'public';
  if (caller.kind === 'anonymous') return isPublic && act !== 'manage';
  const memberRole = caller.scopes !== null && !isPublic ? null : role;
  if (managesTopic(caller.userId, topic, memberRole)) return true;
  return act !== 'manage' && (isPublic || (topic.teamId !== null && memberRole !== null));
}

/** Whether the account with this role in the topic's team manages the topic. */
export function managesTopic(userId: string, topic: TopicAccess, role: Role | null): boolean {
  return userId === topic.ownerId || (topic.teamId !== null && managesTeam(role));
}

/** Throws the error for a caller who may not act on the topic: 401 without a credential, otherwise 403. */
export function requireTopicAccess(caller: Caller, topic: TopicAccess, act: TopicAct, role: Role | null): void {
  if (mayUseTopic(caller, topic, act, role)) return;
  if (caller.kind === 'anonymous') throw new AppError('unauthenticated', 'Not authenticated');
  throw new AppError('forbidden', 'Insufficient permissions to access this topic');
}
