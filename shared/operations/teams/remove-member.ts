import type { Change } from '../../domain/change.ts';
import type { TeamMember } from '../../domain/teams/team.ts';
import { write, type Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import { subscriptions, subscriptionsPerAccount } from '../../collections/subscriptions-collection.ts';
import { findMember, teamMembers } from '../../collections/teams.ts';
import { topics } from '../../collections/topics.ts';
import { voidGrants } from './void-grants.ts';

/** More private topics than any tier allows. */
const privateTopicsMax = 1_000;
/** Each subscription needs two of a commit's 1,000 writes. Remaining subscriptions are removed on access. */
const subscriptionsPerCommitMax = 400;

/**
 * Removes the user from the team, with the user's subscriptions to the team's private topics, the tokens that the user
 * created for the team's topics, and the invites that the user sent. Resolves with the changes that the caller reports
 * to the nodes, which ends streams, or null if the user was not a member. The caller must not pass the owner.
 */
export async function removeMember(
  documents: Documents,
  teamId: string,
  userId: string,
  audit: Audit,
): Promise<Change[] | null> {
  const voided = await voidGrants(documents, { teamId, userId }, audit);
  const wasMember = await endMembership(documents, { teamId, userId }, audit);
  return wasMember ? [...voided, { kind: 'member', teamId, userId }] : null;
}

function endMembership(
  documents: Documents,
  { teamId, userId }: Pick<TeamMember, 'teamId' | 'userId'>,
  audit: Audit,
): Promise<boolean> {
  return retryStale(async () => {
    const member = await findMember(documents, teamId, userId);
    if (member === null) return false;
    const endedSubscriptions = (await subscriptionsToEnd(documents, member)).slice(0, subscriptionsPerCommitMax);
    await documents.commit([
      write.remove(teamMembers, member.id, member.version),
      ...endedSubscriptions.flatMap(({ id, version, topicId }) => [
        write.remove(subscriptions, id, version),
        write.increment(topics, topicId, { subscriberCount: -1 }),
      ]),
      ...audit({
        action: 'team.member_removed',
        subject: { id: userId },
        within: { type: 'team', id: teamId },
        details: {},
      }),
    ]);
    return true;
  });
}

async function subscriptionsToEnd(documents: Documents, { teamId, userId }: TeamMember) {
  const [closed, own] = await Promise.all([
    documents.find(topics, {
      index: 'byTeamListed',
      equals: { teamId, isListed: false, accessLevel: 'private' },
      limit: privateTopicsMax,
    }),
    documents.find(subscriptions, { index: 'byUser', equals: { userId }, limit: subscriptionsPerAccount }),
  ]);
  const lost = new Set(closed.filter(({ ownerId }) => ownerId !== userId).map(({ id }) => id));
  return own.filter(({ topicId }) => lost.has(topicId));
}
