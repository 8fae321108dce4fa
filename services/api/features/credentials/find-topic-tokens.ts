import type { TopicToken } from '@tocsin/shared/domain/accounts/credentials.ts';
import { topicTokens } from '@tocsin/shared/collections/credentials.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { topicTokensMax } from './create-topic-token.ts';

/** Returns the topic's tokens, newest first. */
export function findTopicTokens(
  { engine: { documents }, usage }: Pick<ApiDeps, 'engine' | 'usage'>,
  topicId: string,
): Promise<TopicToken[]> {
  return usage.readTopicTokens(() =>
    documents.find(topicTokens, { index: 'byTopic', equals: { topicId }, descending: true, limit: topicTokensMax }),
  );
}
