import type { TopicToken } from '../domain/credentials.ts';
import { write, type Documents } from '../ports/documents.ts';
import { topicTokens } from './credentials.ts';
import { listLogConsumers, logConsumers } from './log-consumers.ts';
import { commitWithinQuota } from './quota-guards.ts';

/**
 * Removes the token with the positions that it kept. One that is being made moves the topic's quota guard, so none is
 * left behind. Whoever calls this says so to the nodes (`{kind: 'topic-token'}`).
 */
export function removeTopicToken(documents: Documents, { id, topicId }: TopicToken): Promise<void> {
  return commitWithinQuota(documents, topicId, async () => {
    const consumers = await listLogConsumers(documents, { topicId, ownerId: id });
    return { writes: [write.remove(topicTokens, id), ...consumers.map((consumer) => write.remove(logConsumers, consumer.id))], result: undefined };
  });
}
