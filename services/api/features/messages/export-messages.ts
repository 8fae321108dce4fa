import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { ownedTopics } from '@tocsin/shared/operations/topics/owned-topics.ts';
import { messageSchema, toMessageJson } from '@tocsin/shared/wire/message.ts';
import type { ExportSection } from '../../export/export-section.ts';
import type { ApiDeps } from '../../api-deps.ts';

/** Messages per read, so that an export does not use up the memory or block the event loop of an embedded server. */
const pageSize = 50;

/** The messages of the account's topics, by topic, oldest first, without deleted and expired ones. */
export function exportMessages(deps: Pick<ApiDeps, 'clock' | 'engine'>): ExportSection {
  return {
    name: 'messages',
    scopes: ['subscribe'],
    schema: messageSchema,
    async *pages({ caller }) {
      for await (const topics of ownedTopics(deps.engine.documents, caller.userId)) {
        for (const topic of topics) yield* messagesOf(deps, topic);
      }
    },
  };
}

/**
 * Reads everything in the store: no reader continues from here, so a gap below the last acknowledged message is
 * harmless.
 */
async function* messagesOf(
  { engine: { messages }, clock }: Pick<ApiDeps, 'clock' | 'engine'>,
  topic: Topic,
): AsyncGenerator<unknown[], void> {
  for (let after = -1; ;) {
    const page = await messages.after(topic.id, {
      after,
      upTo: Number.MAX_SAFE_INTEGER,
      limit: pageSize,
      now: clock(),
    });
    if (page.length > 0) yield page.map((message) => toMessageJson(message, topic.name, 'manager'));
    if (page.length < pageSize) return;
    after = page.at(-1)!.offset;
  }
}
