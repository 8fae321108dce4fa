import type { Change } from '../../domain/change.ts';
import { topicChange } from '../../domain/change.ts';
import { AppError } from '../../domain/errors.ts';
import type { Team, TopicDisposal } from '../../domain/teams/team.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import { write, type Documents, type Write } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { quotaGuards } from '../../collections/quota-guards.ts';
import { findSinks, sinkTopics } from '../../collections/sinks/sinks.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { invitesMax, teamInvites } from '../../collections/team-invites.ts';
import { findTeam, teamMembers, teams } from '../../collections/teams.ts';
import {
  newTopicCleanup,
  removeTopicWrites,
  topicCleanups,
  type TopicCleanup,
} from '../../collections/topic-cleanups.ts';
import { topics } from '../../collections/topics.ts';
import { updateWith } from '../../documents/update-with.ts';
import { findTeamSubscriptions } from '../../collections/subscriptions-collection.ts';
import { pauseSink } from '../sinks/pause-sink.ts';
import { endTeamSubscription } from './subscriptions/end-team-subscription.ts';
import { runTeamSubscription } from './subscriptions/run-team-subscription.ts';

/** The effects of a stored step. */
export interface RemovalStep {
  /** Caches that the nodes must invalidate, which also ends streams. */
  readonly changes: readonly Change[];
  /** Pending clean-ups of topics. The sweep runs them if no job is added. */
  readonly cleanups: readonly Pick<TopicCleanup, 'topicId' | 'kind'>[];
}

export interface RemoveTeamDeps {
  readonly documents: Documents;
  readonly makeId: () => string;
  readonly clock: () => number;
  /** Records the consequences of the removal as actions of Tocsin. */
  readonly audit: Audit;
  /** Called after each step. */
  readonly onStep: (step: RemovalStep) => Promise<void>;
}

/** Topics, members or invites per commit, so that a commit does not block others. */
const batchSize = 100;

/**
 * Removes a team with its members and invites, and frees its name. Its topics are erased, or become private topics of
 * the owner. A topic that is put under legal hold during the removal is kept in either case. The first write prevents
 * additions to the team, so that the rest can run in steps. The retention service completes an interrupted removal.
 * Throws `not_found` `Team not found`, and `conflict` without changes if a topic to erase is under legal hold. `by` is
 * the actor for the audit log.
 */
export async function removeTeam(
  deps: RemoveTeamDeps,
  teamId: string,
  disposal: TopicDisposal,
  by: Audit,
): Promise<void> {
  const { documents } = deps;
  const team = await retryStale(async () => {
    const found = await findTeam(documents, teamId);
    if (found === null) throw new AppError('not_found', 'Team not found');
    if (disposal === 'erase' && (await holdsTopic(documents, teamId)))
      throw new AppError('conflict', 'Topic is under legal hold');
    return beginRemoval(documents, found, { disposal, recorded: by(deletionOf(found, disposal, 'request')) });
  });
  await finishRemoval(deps, team);
}

/**
 * Like `removeTeam`, for a team that has not changed since it was read. Its topics become private topics of the owner.
 * If the team has changed, throws StaleVersion and changes nothing.
 */
export async function removeUnchangedTeam(deps: RemoveTeamDeps, team: Team): Promise<void> {
  const recorded = deps.audit(deletionOf(team, 'convert', 'lapsed'));
  await finishRemoval(deps, await beginRemoval(deps.documents, team, { disposal: 'convert', recorded }));
}

/** Removes a team whose owner's account was deleted, with its remaining topics. */
export async function removeTeamOfNobody(deps: RemoveTeamDeps, { id }: Team): Promise<void> {
  const team = await retryStale(async () => {
    const found = await deps.documents.get(teams, id);
    if (found === null || found.removal !== null) return found;
    return beginRemoval(deps.documents, found, {
      disposal: 'erase',
      recorded: deps.audit(deletionOf(found, 'erase', 'account_deleted')),
    });
  });
  if (team !== null) await completeRemoval(deps, team);
}

const deletionOf = (team: Team, topics: TopicDisposal, reason: 'request' | 'lapsed' | 'account_deleted') =>
  ({ action: 'team.deleted', subject: { id: team.id, name: team.name }, details: { topics, reason } }) as const;

/** Runs and records the first step. Throws StaleVersion. */
function beginRemoval(
  documents: Documents,
  team: Team,
  { disposal, recorded }: { disposal: TopicDisposal; recorded: readonly Write[] },
): Promise<Team> {
  return updateWith(documents, teams, team, { set: { removal: disposal }, otherWrites: recorded });
}

async function finishRemoval(deps: RemoveTeamDeps, team: Team): Promise<void> {
  await deps.onStep({ changes: [{ kind: 'team', teamId: team.id }], cleanups: [] });
  await completeRemoval(deps, team);
}

/** Completes a removal that has begun. Safe to run concurrently. */
export async function completeRemoval(deps: RemoveTeamDeps, team: Team): Promise<void> {
  const { documents } = deps;
  // Both loops end, because nothing can be added to a team whose removal has begun.
  while ((await releaseTopics(deps, team)) > 0);
  while ((await removeMembers(deps, team)) > 0);
  await endTeamSubscriptions(deps, team);
  const invites = await documents.find(teamInvites, {
    index: 'byTeam',
    equals: { teamId: team.id },
    limit: 2 * invitesMax,
  });
  await documents.commit([
    ...invites.map(({ id }) => write.remove(teamInvites, id)),
    write.remove(quotaGuards, team.id),
    write.remove(teams, team.id),
  ]);
  await deps.onStep({ changes: [{ kind: 'team', teamId: team.id }], cleanups: [] });
}

/** Ends what the team set for its members. The sweep ends what remains of large teams. */
async function endTeamSubscriptions(deps: RemoveTeamDeps, { id: teamId }: Team): Promise<void> {
  for (const { id } of await findTeamSubscriptions(deps.documents, teamId)) {
    await endTeamSubscription(deps.documents, { id, teamId, now: deps.clock() }, () => []);
    await runTeamSubscription(deps, id, batchSize);
  }
}

/** Returns teams whose removal has begun, oldest first. */
export async function findRemovals(documents: Documents, limit: number): Promise<Team[]> {
  const disposals: readonly TopicDisposal[] = ['erase', 'convert'];
  return (
    await Promise.all(
      disposals.map((removal) => documents.find(teams, { index: 'byRemoval', equals: { removal }, limit })),
    )
  ).flat();
}

async function holdsTopic(documents: Documents, teamId: string): Promise<boolean> {
  return (await documents.count(topics, { index: 'byTeamHeld', equals: { teamId, isHeld: true } })) > 0;
}

/** Removes a batch of topics from the team; resolves with their number. */
async function releaseTopics({ documents, makeId, clock, onStep, audit }: RemoveTeamDeps, team: Team): Promise<number> {
  const isErased = (topic: Topic): boolean => team.removal === 'erase' && !topic.isHeld;
  const released = await retryStale(async () => {
    const found = await documents.find(topics, { index: 'byTeam', equals: { teamId: team.id }, limit: batchSize });
    await pauseForeignSinks(
      documents,
      found.filter((topic) => !isErased(topic)),
      audit,
    );
    const writes = found.flatMap((topic) => {
      const cleanup = { id: makeId(), now: clock() };
      return isErased(topic) ? removeTopicWrites(topic, cleanup) : convertTopicWrites(topic, cleanup);
    });
    const recorded = found
      .filter(isErased)
      .flatMap((topic) =>
        audit({ action: 'topic.deleted', subject: topic, within: { type: 'team', id: team.id }, details: {} }),
      );
    if (found.length > 0) await documents.commit([...writes, ...recorded]);
    return found;
  });
  if (released.length === 0) return 0;
  await onStep({
    changes: released.map(topicChange),
    cleanups: released.map((topic) => ({ topicId: topic.id, kind: isErased(topic) ? 'erase' : 'prune' })),
  });
  return released.length;
}

/** Pauses the sinks that others than its owner created for a topic, because only the owner still manages it. */
async function pauseForeignSinks(documents: Documents, found: readonly Topic[], audit: Audit): Promise<void> {
  const ownerOf = new Map(found.map(({ id, ownerId }) => [id, ownerId]));
  for (const { id: topicId } of await documents.pick(sinkTopics, [...ownerOf.keys()], []))
    for (const { id, createdBy } of await findSinks(documents, topicId))
      if (createdBy !== ownerOf.get(topicId)) await pauseSink(documents, id, audit);
}

/**
 * Returns the writes that turn the topic into a private topic of its owner, even beyond the tier's limit: it is then
 * read-only.
 */
function convertTopicWrites(topic: Topic, cleanup: { id: string; now: number }): Write[] {
  return [
    write.update(topics, topic, { teamId: null, accessLevel: 'private', isListed: false }),
    write.insert(
      topicCleanups,
      newTopicCleanup({ id: cleanup.id, topicId: topic.id, kind: 'prune', requestedAt: cleanup.now }),
    ),
  ];
}

async function removeMembers(deps: RemoveTeamDeps, { id: teamId }: Team): Promise<number> {
  const found = await deps.documents.find(teamMembers, { index: 'byTeam', equals: { teamId }, limit: batchSize });
  if (found.length === 0) return 0;
  await deps.documents.commit(found.map(({ id }) => write.remove(teamMembers, id)));
  await deps.onStep({ changes: found.map(({ userId }) => ({ kind: 'member', teamId, userId })), cleanups: [] });
  return found.length;
}
