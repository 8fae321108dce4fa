import { ownedTopics } from '@tocsin/shared/operations/topics/owned-topics.ts';
import { topicSchema } from '@tocsin/shared/wire/topic.ts';
import type { ExportSection } from '../../export/export-section.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { describeTopics } from './describe-topics.ts';

/** The account's topics, including those of its teams, oldest first. */
export function exportTopics(deps: Pick<ApiDeps, 'config' | 'engine'>): ExportSection {
  return {
    name: 'topics',
    scopes: ['topics:read'],
    schema: topicSchema,
    async *pages({ caller }) {
      for await (const topics of ownedTopics(deps.engine.documents, caller.userId))
        yield await describeTopics(deps, caller, { topics, roles: new Map() });
    },
  };
}
