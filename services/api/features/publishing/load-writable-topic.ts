import type { Caller } from '@tocsin/shared/domain/accounts/caller.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import { requireTopicAccess } from '@tocsin/shared/domain/topics/access.ts';
import { tierInForce, tierLimits } from '@tocsin/shared/domain/accounts/tiers.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { openTopicByName, roleOf } from '../../http/load-topic.ts';

/**
 * Returns the topic if the caller may publish to it. Throws 404, 401 and 403 like every topic route, 403 for the topic
 * of a deactivated team, and 403 for a private topic beyond its owner's tier (after a lapse the oldest ones stay
 * writable).
 */
export async function loadWritableTopic(
  deps: Pick<ApiDeps, 'clock' | 'directory'>,
  caller: Caller,
  name: string,
): Promise<Topic> {
  const topic = await openTopicByName(deps.directory, caller, { name, act: 'write' });
  await requireOpenForPublishing(deps, topic);
  return topic;
}

/** Throws 401 and 403 like `loadWritableTopic` if the caller may not publish to the topic now. */
export async function requireWritable(
  deps: Pick<ApiDeps, 'clock' | 'directory'>,
  caller: Caller,
  topic: Topic,
): Promise<void> {
  requireTopicAccess(caller, topic, 'write', await roleOf(deps.directory, caller, topic));
  await requireOpenForPublishing(deps, topic);
}

async function requireOpenForPublishing(deps: Pick<ApiDeps, 'clock' | 'directory'>, topic: Topic): Promise<void> {
  if (topic.teamId !== null) await requireActiveTeam(deps, topic.teamId);
  else if (topic.accessLevel === 'private') await requireWithinTier(deps, topic);
}

async function requireActiveTeam(deps: Pick<ApiDeps, 'directory'>, teamId: string): Promise<void> {
  const team = await deps.directory.team(teamId);
  if (team !== null && !team.isActive) throw new AppError('forbidden', 'Team is deactivated');
}

async function requireWithinTier(deps: Pick<ApiDeps, 'clock' | 'directory'>, topic: Topic): Promise<void> {
  const owner = await deps.directory.user(topic.ownerId);
  if (owner === null) return;
  const count = tierLimits[tierInForce(owner, deps.clock())].privateTopics;
  const oldest = await deps.directory.privateTopics(owner.id);
  if (oldest.slice(0, count).includes(topic.id) || oldest.length < count) return;
  throw new AppError('forbidden', 'Private topic limit reached');
}
