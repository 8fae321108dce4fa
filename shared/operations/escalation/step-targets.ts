import { reachesRole, type EscalationPolicy, type StepTarget } from '../../domain/escalation/escalation-policy.ts';
import { managesTopic } from '../../domain/topics/access.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import { findMembers, findTeamRole } from '../../collections/teams.ts';
import { topics } from '../../collections/topics.ts';
import type { Documents } from '../../ports/documents.ts';
import { findReaders } from '../topics/find-readers.ts';

/** IDs per lookup. */
const usersAtOnce = 1_000;

type UsersTarget = Extract<StepTarget, { kind: 'users' }>;

/** Returns the accounts of the step, whether or not they may read the topic, without duplicates. */
export async function listStepUsers(
  documents: Documents,
  topic: Topic,
  { userIds, teamRole }: UsersTarget,
): Promise<string[]> {
  const members = teamRole === null || topic.teamId === null ? [] : await findMembers(documents, topic.teamId);
  const ofRole = members.filter(({ role }) => reachesRole(role, teamRole!)).map(({ userId }) => userId);
  return [...new Set([...userIds, ...ofRole])];
}

/** Whether some account of the step may read the topic now. */
export async function hasStepReader(documents: Documents, topic: Topic, to: UsersTarget): Promise<boolean> {
  const wanted = await listStepUsers(documents, topic, to);
  for (let at = 0; at < wanted.length; at += usersAtOnce)
    if ((await findReaders(documents, topic, wanted.slice(at, at + usersAtOnce))).size > 0) return true;
  return false;
}

/**
 * Returns the topic of the step, or null if it does not exist or may not be published to any more: it must have the
 * owner or the team of the escalating topic, or be managed by the account that set the policy.
 */
export async function findStepTopic(
  documents: Documents,
  from: Topic,
  { setBy }: Pick<EscalationPolicy, 'setBy'>,
  topicId: string,
): Promise<Topic | null> {
  const topic = await documents.get(topics, topicId);
  if (topic === null) return null;
  if (topic.ownerId === from.ownerId || (topic.teamId !== null && topic.teamId === from.teamId)) return topic;
  if (setBy === null) return null;
  const role = topic.teamId === null ? null : await findTeamRole(documents, topic.teamId, setBy);
  return managesTopic(setBy, topic, role) ? topic : null;
}
