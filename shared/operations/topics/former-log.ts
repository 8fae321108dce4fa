import { formerTopics, type FormerTopic } from '../../collections/topic-cleanups.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import type { Documents } from '../../ports/documents.ts';
import type { MessageReads } from '../../ports/messages/message-reads.ts';

type LastOffsets = Pick<MessageReads, 'lastOffsets'>;

/** Resolves with the offset after all records of deleted topics of one name, or with null without records. */
export async function endOfFormerLog(messages: LastOffsets, former: FormerTopic): Promise<number | null> {
  const end = Math.max(await logEndOf(messages, former), former.formerEnd ?? 0);
  return end === 0 ? null : end;
}

/** Stores where the log of the deleted topic ends. Call before its records are removed. Idempotent. */
export function keepLogEnd(
  { documents, messages }: { readonly documents: Documents; readonly messages: LastOffsets },
  topicId: string,
): Promise<void> {
  return retryStale(async () => {
    const former = await documents.get(formerTopics, topicId);
    if (former === null) return;
    const logEnd = await logEndOf(messages, former);
    if (logEnd !== former.logEnd) await documents.update(formerTopics, former, { logEnd });
  });
}

/** Records can arrive late, and none are stored after the clean-up. */
async function logEndOf(messages: LastOffsets, { id, logEnd }: FormerTopic): Promise<number> {
  return Math.max((await messages.lastOffsets([id])).get(id)! + 1, logEnd ?? 0);
}
