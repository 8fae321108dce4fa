import type { TopicToken } from '@tocsin/shared/domain/credentials.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topicTokens } from '@tocsin/shared/stores/credentials.ts';
import { topicTokensMax } from './create-topic-token.ts';

/** The topic's tokens, newest first. */
export function findTopicTokens(documents: Documents, topicId: string): Promise<TopicToken[]> {
  return documents.find(topicTokens, { index: 'byTopic', equals: { topicId }, descending: true, limit: topicTokensMax });
}
