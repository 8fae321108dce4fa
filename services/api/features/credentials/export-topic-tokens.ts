import type { TopicToken } from '@tocsin/shared/domain/accounts/credentials.ts';
import type { Documents } from '@tocsin/shared/ports/documents.ts';
import { topicTokens } from '@tocsin/shared/collections/credentials.ts';
import { ownedTopics } from '@tocsin/shared/operations/topics/owned-topics.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import { topicTokenSchema, toTopicTokenJson } from '@tocsin/shared/wire/topic-token.ts';
import type { ExportSection } from '../../export/export-section.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { findTopicTokens } from './find-topic-tokens.ts';

const pageSize = 500;

/** The tokens of the account's topics by topic, then those that it created for other topics, without secrets. */
export function exportTopicTokens(deps: Pick<ApiDeps, 'engine' | 'usage'>): ExportSection {
  const {
    engine: { documents },
    usage,
  } = deps;
  return {
    name: 'topic_access_tokens',
    scopes: ['topics:read'],
    schema: topicTokenSchema,
    async *pages({ caller: { userId } }) {
      for await (const owned of ownedTopics(documents, userId)) {
        for (const topic of owned) yield (await findTopicTokens(deps, topic.id)).map(toTopicTokenJson);
      }
      for (let offset = 0; ; offset += pageSize) {
        const made = await usage.readTopicTokens(() =>
          documents.find(topicTokens, { index: 'byCreator', equals: { createdBy: userId }, limit: pageSize, offset }),
        );
        yield (await ofOthersTopics(documents, userId, made)).map(toTopicTokenJson);
        if (made.length < pageSize) return;
      }
    },
  };
}

async function ofOthersTopics(
  documents: Documents,
  userId: string,
  made: readonly TopicToken[],
): Promise<TopicToken[]> {
  const found = await documents.getMany(topics, [...new Set(made.map(({ topicId }) => topicId))]);
  const others = new Set(found.filter(({ ownerId }) => ownerId !== userId).map(({ id }) => id));
  return made.filter(({ topicId }) => others.has(topicId));
}
