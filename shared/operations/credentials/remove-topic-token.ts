import type { TopicToken } from '../../domain/accounts/credentials.ts';
import { write, type Documents } from '../../ports/documents.ts';
import type { Audit } from '../../collections/audit-log.ts';
import { topicTokens } from '../../collections/credentials.ts';
import { listLogConsumers, logConsumers } from '../../collections/log-consumers.ts';
import { commitWithinQuota } from '../../collections/quota-guards.ts';

/**
 * Removes the token and its log consumers, including a consumer that is created concurrently, because its creation
 * increments the topic's quota guard. Resolves with true for one caller if the token existed. The caller notifies the
 * nodes (`{kind: 'topic-token'}`).
 */
export function removeTopicToken(
  documents: Documents,
  { id, topicId }: Pick<TopicToken, 'id' | 'topicId'>,
  audit: Audit,
): Promise<boolean> {
  return commitWithinQuota(documents, topicId, async () => {
    const token = await documents.get(topicTokens, id);
    if (token === null) return { writes: [], result: false };
    const consumers = await listLogConsumers(documents, { topicId, ownerId: id });
    return {
      writes: [
        write.remove(topicTokens, id),
        ...consumers.map((consumer) => write.remove(logConsumers, consumer.id)),
        ...audit({
          action: 'topic_token.deleted',
          subject: token,
          within: { type: 'topic', id: topicId },
          details: {},
        }),
      ],
      result: true,
    };
  });
}
