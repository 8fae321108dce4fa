import type { Change } from '../../domain/change.ts';
import type { TeamMember } from '../../domain/teams/team.ts';
import { write, type Collection, type Document, type Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { topicTokens } from '../../collections/credentials.ts';
import { sinks } from '../../collections/sinks/sinks.ts';
import { teamInvites } from '../../collections/team-invites.ts';
import { topics } from '../../collections/topics.ts';
import { paginateIndex } from '../../documents/paginate-index.ts';
import { pauseSink } from '../sinks/pause-sink.ts';
import { removeTopicToken } from '../credentials/remove-topic-token.ts';

type Member = Pick<TeamMember, 'teamId' | 'userId'>;

/**
 * Removes the tokens that the member created for the team's topics and the invites that the member sent, and pauses the
 * sinks that the member created for these topics. Call it before the member loses the right to manage the team, so that
 * a repeated request completes an interrupted one. Tokens and invites that the member creates concurrently are void
 * anyway, because they depend on the right of their creator. Resolves with the changes that the caller reports to the
 * nodes.
 */
export async function voidGrants(documents: Documents, member: Member, audit: Audit): Promise<Change[]> {
  await cancelInvites(documents, member, audit);
  for await (const { id } of createdForTeam(documents, sinks, member)) await pauseSink(documents, id, audit);
  const changes: Change[] = [];
  for await (const token of createdForTeam(documents, topicTokens, member)) {
    await removeTopicToken(documents, token, audit);
    changes.push({ kind: 'topic-token', secretHash: token.secretHash });
  }
  return changes;
}

/** What a member created for topics. */
interface Created extends Document {
  readonly topicId: string;
  readonly createdBy: string;
  readonly createdAt: number;
}

/** What the member created for the topics of the team. The collection has the index `byCreator`. */
async function* createdForTeam<T extends Created>(
  documents: Documents,
  collection: Collection<T>,
  { teamId, userId }: Member,
): AsyncGenerator<T> {
  const equals: Partial<Created> = { createdBy: userId };
  for await (const created of paginateIndex(documents, collection, {
    index: 'byCreator',
    equals: equals as Partial<T>,
    valueOf: ({ createdAt }) => createdAt,
    next: (createdAt) => createdAt + 1,
  })) {
    const found = await documents.pick(topics, [...new Set(created.map(({ topicId }) => topicId))], ['teamId']);
    const ofTeam = new Set(found.filter((topic) => topic.teamId === teamId).map(({ id }) => id));
    yield* created.filter(({ topicId }) => ofTeam.has(topicId));
  }
}

async function cancelInvites(documents: Documents, { teamId, userId }: Member, audit: Audit): Promise<void> {
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
