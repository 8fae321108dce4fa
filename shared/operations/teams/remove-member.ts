import type { Change } from '../../domain/change.ts';
import type { Subscription } from '../../domain/push/subscription.ts';
import type { TeamMember } from '../../domain/teams/team.ts';
import { write, type Documents, type Write } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import {
  findNamings,
  subscriptions,
  subscriptionsPerAccount,
  teamSubscriptionMembers,
} from '../../collections/subscriptions-collection.ts';
import { findMember, teamMembers } from '../../collections/teams.ts';
import { topics } from '../../collections/topics.ts';
import { releaseWrites } from './subscriptions/settle-member.ts';
import { voidGrants } from './void-grants.ts';

/** More private topics than any tier allows. */
const privateTopicsMax = 1_000;
/**
 * Each subscription needs two of a commit's 1,000 writes. A team sets fewer, and others that remain are removed on
 * access.
 */
const subscriptionsPerCommitMax = 350;
/** More than the subscriptions of a team. */
const namingsPerCommitMax = 250;

/**
 * Removes the user from the team, with the user's subscriptions to the team's private topics and those that the team
 * set, the tokens that the user created for the team's topics, and the invites that the user sent. Resolves with the
 * changes that the caller reports to the nodes, which ends streams, or null if the user was not a member. The caller
 * must not pass the owner.
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
    const [ended, namings] = await Promise.all([
      subscriptionsToEnd(documents, member),
      findNamings(documents, teamId, userId),
    ]);
    await documents.commit([
      write.remove(teamMembers, member.id, member.version),
      ...ended.slice(0, subscriptionsPerCommitMax).flat(),
      ...namings.slice(0, namingsPerCommitMax).map(({ id }) => write.remove(teamSubscriptionMembers, id)),
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

/** Returns the writes that end each subscription, those that the team set first. */
async function subscriptionsToEnd(documents: Documents, { teamId, userId }: TeamMember): Promise<Write[][]> {
  const [closed, own] = await Promise.all([
    documents.find(topics, {
      index: 'byTeamListed',
      equals: { teamId, isListed: false, accessLevel: 'private' },
      limit: privateTopicsMax,
    }),
    documents.find(subscriptions, { index: 'byUser', equals: { userId }, limit: subscriptionsPerAccount }),
  ]);
  const lost = new Set(closed.filter(({ ownerId }) => ownerId !== userId).map(({ id }) => id));
  const set = await setByTeam(documents, teamId, own);
  return [
    ...set.map((one) => (lost.has(one.topicId) ? removeWrites(one) : releaseWrites(one))),
    ...own.filter((one) => lost.has(one.topicId) && !set.includes(one)).map(removeWrites),
  ];
}

/** Returns those of the subscriptions that the team set. */
async function setByTeam(documents: Documents, teamId: string, own: readonly Subscription[]): Promise<Subscription[]> {
  const byTeams = own.filter(({ teamSubscriptionId }) => teamSubscriptionId !== null);
  const found = await documents.pick(topics, [...new Set(byTeams.map(({ topicId }) => topicId))], ['teamId']);
  const ofTeam = new Set(found.filter((topic) => topic.teamId === teamId).map(({ id }) => id));
  return byTeams.filter(({ topicId }) => ofTeam.has(topicId));
}

const removeWrites = ({ id, version, topicId }: Subscription): Write[] => [
  write.remove(subscriptions, id, version),
  write.increment(topics, topicId, { subscriberCount: -1 }),
];
