import type { TeamSubscription } from '../../../domain/push/team-subscription.ts';
import type { Documents } from '../../../ports/documents.ts';
import { paginateIndex } from '../../../documents/paginate-index.ts';
import { removeFound } from '../../../documents/remove-found.ts';
import { retryStale } from '../../../documents/retry-stale.ts';
import type { BatchReport } from '../../../documents/run-batches.ts';
import {
  findNamed,
  findTeamSubscriptions,
  namedMembersMax,
  subscriptions,
  teamSubscriptionMembers,
  teamSubscriptions,
} from '../../../collections/subscriptions-collection.ts';
import { teamMembers } from '../../../collections/teams.ts';
import { settleMember, type SettleDeps } from './settle-member.ts';

/** Subscriptions per read. */
const pageSize = 100;

/**
 * Subscribes the members of a new team subscription, or ends the subscriptions of one that ended, in at most
 * `membersMax` changes. Idempotent and safe to run concurrently; resumes after a crash. The report counts ended
 * subscriptions.
 */
export async function runTeamSubscription(deps: SettleDeps, id: string, membersMax: number): Promise<BatchReport> {
  const found = await deps.documents.get(teamSubscriptions, id);
  if (found === null || found.pendingSince === null) return { removed: 0, hasMore: false };
  return found.endedAt === null ? subscribeMembers(deps, found, membersMax) : endSubscriptions(deps, found, membersMax);
}

async function subscribeMembers(deps: SettleDeps, made: TeamSubscription, membersMax: number): Promise<BatchReport> {
  const { documents } = deps;
  const { id, teamId, topicId } = made;
  let changed = 0;
  for await (const { userIds, joinedAt } of membersOf(documents, made)) {
    for (const userId of userIds) {
      if (changed >= membersMax) return { removed: 0, hasMore: true };
      if (await settleMember(deps, { teamId, userId, topicId })) changed += 1;
    }
    // Not an update, because a new version would restart members that settle meanwhile.
    if (joinedAt !== null) await documents.raise(teamSubscriptions, [id], { field: 'doneUpTo', to: joinedAt });
  }
  await retryStale(async () => {
    const current = await documents.get(teamSubscriptions, id);
    if (current !== null && current.endedAt === null && current.pendingSince !== null)
      await documents.update(teamSubscriptions, current, { pendingSince: null });
  });
  return { removed: 0, hasMore: false };
}

/** Members in the order in which they joined, with the time up to which they joined; null for named ones. */
async function* membersOf(
  documents: Documents,
  { id, teamId, isForAll, doneUpTo }: TeamSubscription,
): AsyncGenerator<{ userIds: string[]; joinedAt: number | null }, void> {
  if (!isForAll) {
    yield { userIds: (await findNamed(documents, id)).map(({ userId }) => userId), joinedAt: null };
    return;
  }
  for await (const page of paginateIndex(documents, teamMembers, {
    index: 'byTeam',
    equals: { teamId },
    from: doneUpTo ?? undefined,
    valueOf: ({ joinedAt }) => joinedAt,
    next: (joinedAt) => joinedAt + 1,
  }))
    yield { userIds: page.map(({ userId }) => userId), joinedAt: page.at(-1)!.joinedAt };
}

async function endSubscriptions(
  deps: SettleDeps,
  { id, teamId }: TeamSubscription,
  membersMax: number,
): Promise<BatchReport> {
  const { documents } = deps;
  let removed = 0;
  for (;;) {
    const found = await documents.find(subscriptions, {
      index: 'byTeamSubscription',
      equals: { teamSubscriptionId: id },
      limit: pageSize,
    });
    if (found.length === 0) break;
    for (const { userId, topicId } of found) {
      if (removed >= membersMax) return { removed, hasMore: true };
      await settleMember(deps, { teamId, userId, topicId });
      removed += 1;
    }
  }
  await removeTeamSubscription(documents, id);
  return { removed, hasMore: false };
}

/** Removes the documents of a team subscription. */
async function removeTeamSubscription(documents: Documents, id: string): Promise<void> {
  const named = { index: 'member', equals: { teamSubscriptionId: id }, limit: namedMembersMax };
  await removeFound(documents, teamSubscriptionMembers, named);
  await documents.remove(teamSubscriptions, id);
}

/** Removes a batch of the team subscriptions of a removed topic; resolves with their number. */
export async function removeTeamSubscriptionsOf(documents: Documents, topicId: string): Promise<number> {
  const found = await documents.find(teamSubscriptions, { index: 'byTopic', equals: { topicId }, limit: pageSize });
  for (const { id } of found) await removeTeamSubscription(documents, id);
  return found.length;
}

/**
 * Subscribes a new member to what the team set for all. Idempotent; a sweep completes an interrupted run. Does nothing
 * if it is complete.
 */
export async function subscribeNewMember(deps: SettleDeps, memberId: string): Promise<void> {
  const { documents } = deps;
  const member = await documents.get(teamMembers, memberId);
  if (member === null || member.subscribesSince === null) return;
  const { teamId, userId } = member;
  const forAll = (await findTeamSubscriptions(documents, teamId)).filter(({ isForAll }) => isForAll);
  for (const topicId of new Set(forAll.map((one) => one.topicId)))
    await settleMember(deps, { teamId, userId, topicId });
  await retryStale(async () => {
    const current = await documents.get(teamMembers, memberId);
    if (current !== null) await documents.update(teamMembers, current, { subscribesSince: null });
  });
}
