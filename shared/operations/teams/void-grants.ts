import type { TopicToken } from '../../domain/accounts/credentials.ts';
import type { Change } from '../../domain/change.ts';
import type { TeamMember } from '../../domain/teams/team.ts';
import { write, type Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { topicTokens } from '../../collections/credentials.ts';
import { teamInvites } from '../../collections/team-invites.ts';
import { topics } from '../../collections/topics.ts';
import { paginateIndex } from '../../documents/paginate-index.ts';
import { removeTopicToken } from '../credentials/remove-topic-token.ts';

/**
 * Removes the tokens that the member created for the team's topics and the invites that the member sent. Call it before
 * the member loses the right to manage the team, so that a repeated request completes an interrupted one. What the
 * member creates concurrently is void anyway: tokens and invites depend on the right of their creator. Resolves with
 * the changes that the caller reports to the nodes.
 */
export async function voidGrants(
  documents: Documents,
  member: Pick<TeamMember, 'teamId' | 'userId'>,
  audit: Audit,
): Promise<Change[]> {
  await cancelInvites(documents, member, audit);
  const changes: Change[] = [];
  for await (const created of paginateIndex(documents, topicTokens, {
    index: 'byCreator',
    equals: { createdBy: member.userId },
    valueOf: ({ createdAt }) => createdAt,
    next: (createdAt) => createdAt + 1,
  })) {
    for (const token of await ofTeam(documents, member.teamId, created)) {
      await removeTopicToken(documents, token, audit);
      changes.push({ kind: 'topic-token', secretHash: token.secretHash });
    }
  }
  return changes;
}

async function ofTeam(documents: Documents, teamId: string, tokens: readonly TopicToken[]): Promise<TopicToken[]> {
  const found = await documents.pick(topics, [...new Set(tokens.map(({ topicId }) => topicId))], ['teamId']);
  const ofTeamIds = new Set(found.filter((topic) => topic.teamId === teamId).map(({ id }) => id));
  return tokens.filter(({ topicId }) => ofTeamIds.has(topicId));
}

async function cancelInvites(
  documents: Documents,
  { teamId, userId }: Pick<TeamMember, 'teamId' | 'userId'>,
  audit: Audit,
): Promise<void> {
  for await (const sent of paginateIndex(documents, teamInvites, {
    index: 'byInviter',
    equals: { invitedById: userId },
    valueOf: ({ createdAt }) => createdAt,
    next: (createdAt) => createdAt + 1,
  })) {
    const ofThisTeam = sent.filter((invite) => invite.teamId === teamId);
    if (ofThisTeam.length === 0) continue;
    await documents.commit(
      ofThisTeam.flatMap(({ id }) => [
        write.remove(teamInvites, id),
        ...audit({
          action: 'team.invite_cancelled',
          subject: { id },
          within: { type: 'team', id: teamId },
          details: {},
        }),
      ]),
    );
  }
}
