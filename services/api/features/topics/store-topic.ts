import { mayUseTopic } from '@tocsin/shared/domain/topics/access.ts';
import type { AccountCaller } from '@tocsin/shared/domain/accounts/caller.ts';
import { choosePartition } from '@tocsin/shared/domain/log/choose-partition.ts';
import { AppError } from '@tocsin/shared/domain/errors.ts';
import type { Team } from '@tocsin/shared/domain/teams/team.ts';
import { retentionDaysOf, tierInForce } from '@tocsin/shared/domain/accounts/tiers.ts';
import { topicNameKey, type Topic } from '@tocsin/shared/domain/topics/topic.ts';
import type { User } from '@tocsin/shared/domain/accounts/user.ts';
import { write, type Documents } from '@tocsin/shared/ports/documents.ts';
import { findFormerTopic } from '@tocsin/shared/collections/topic-cleanups.ts';
import { endOfFormerLog } from '@tocsin/shared/operations/topics/former-log.ts';
import { commitWithinQuota } from '@tocsin/shared/collections/quota-guards.ts';
import { findTeamRole, teams } from '@tocsin/shared/collections/teams.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { users } from '@tocsin/shared/collections/users.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { refuseTakenName } from './refuse-taken-name.ts';
import { subscriptionWarning } from './subscription-warning.ts';
import { isListed, requireDescribed, requireWithinTier } from './topic-fields.ts';
import { requireRoomForPrivateTopic, requireRoomForTopic } from './topic-quota.ts';

export type TopicInput = Pick<
  Topic,
  | 'name'
  | 'teamId'
  | 'accessLevel'
  | 'description'
  | 'isDiscoverable'
  | 'iconName'
  | 'iconColor'
  | 'retentionDays'
  | 'archive'
>;

/**
 * Stores a new topic of the caller or of a team that the caller manages. A team's topic belongs to the team's owner and
 * counts against that account's limits. Throws 422, 404 `Team not found`, 403 and 409 as in the interface. Concurrent
 * creations do not exceed the limits of the tier.
 */
export async function storeTopic(
  deps: Pick<ApiDeps, 'clock' | 'config' | 'engine' | 'makeId'>,
  caller: AccountCaller,
  input: TopicInput,
): Promise<{ topic: Topic; warning: string | null }> {
  requireDescribed(input);
  const { documents } = deps.engine;
  const holderId = input.teamId === null ? caller.userId : (await openTeam(documents, caller, input)).ownerId;
  const storing = commitWithinQuota(documents, holderId, async () => {
    const now = deps.clock();
    const team = input.teamId === null ? null : await openTeam(documents, caller, input);
    const owner = await findOwner(documents, holderId);
    requireWithinTier(input.retentionDays, retentionDaysOf(deps.config), tierInForce(owner, now));
    await requireRoomForTopic(documents, owner);
    const room = input.accessLevel === 'private' ? await requireRoomForPrivateTopic(documents, owner, now) : null;
    const former = await findFormerTopic(documents, topicNameKey(input.name));
    const formerEnd = former === null ? null : await endOfFormerLog(deps.engine.messages, former);
    const topic = newTopic(deps, { ...input, ownerId: owner.id, formerEnd, now }, former?.partition);
    return {
      writes: [
        write.require(users, owner),
        ...(team === null ? [] : [write.require(teams, team)]),
        write.insert(topics, topic),
      ],
      result: { topic, warning: subscriptionWarning(owner, room === null ? null : room - 1, now) },
    };
  });
  return storing.catch(refuseTakenName);
}

/** Returns the team if the caller may create this topic for it. */
async function openTeam(documents: Documents, caller: AccountCaller, input: TopicInput): Promise<Team> {
  const team = await documents.get(teams, input.teamId!);
  if (team === null) throw new AppError('not_found', 'Team not found');
  const role = await findTeamRole(documents, team.id, caller.userId);
  const made = { id: '', ownerId: team.ownerId, teamId: team.id, accessLevel: input.accessLevel };
  if (!mayUseTopic(caller, made, 'manage', role)) throw new AppError('forbidden', 'Insufficient permissions');
  if (!team.isActive) throw new AppError('forbidden', 'Team is deactivated');
  return team;
}

/** Returns the future owner. An account that is being deleted cannot create topics. */
async function findOwner(documents: Documents, ownerId: string): Promise<User> {
  const owner = await documents.get(users, ownerId);
  if (owner === null) throw new AppError('unauthenticated', 'Could not validate credentials');
  return owner;
}

function newTopic(
  deps: Pick<ApiDeps, 'engine' | 'makeId'>,
  { now, ...input }: TopicInput & Pick<Topic, 'ownerId' | 'formerEnd'> & { now: number },
  formerPartition: number | undefined,
): Topic {
  const id = deps.makeId();
  const { partitions } = deps.engine.eventLog;
  return {
    ...input,
    id,
    version: 1,
    nameKey: topicNameKey(input.name),
    isListed: isListed(input),
    createdAt: now,
    // In the same partition, offsets of former topics of the name are lower. An adopted log can have fewer partitions.
    partition:
      formerPartition !== undefined && formerPartition < partitions ? formerPartition : choosePartition(id, partitions),
    isHeld: false,
    escalation: null,
    subscriberCount: 0,
    lastActivityAt: now,
  };
}
