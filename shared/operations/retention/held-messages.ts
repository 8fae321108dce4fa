import type { Audit } from '../../collections/audit-log.ts';
import { findTopicByName } from '../../collections/topics.ts';
import { AppError } from '../../domain/errors.ts';
import type { StoredMessage } from '../../domain/messages/message.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import type { MessageRetention } from '../../ports/messages/message-retention.ts';

/** Messages per read. */
const pageSize = 500;

export interface HeldMessages {
  readonly topic: Topic;
  /** The messages by offset, with their text, read page by page. */
  readonly pages: AsyncIterable<readonly StoredMessage[]>;
}

/**
 * Reads what a legal hold keeps: messages of the topic that expired or were deleted and that no reader can see. Without
 * a hold, those that the next sweeps remove. Records the read in the audit log. Throws `not_found` `Topic not found`.
 */
export async function heldMessages(
  deps: { readonly documents: Documents; readonly messages: Pick<MessageRetention, 'held'> },
  name: string,
  { now, audit }: { readonly now: number; readonly audit: Audit },
): Promise<HeldMessages> {
  const topic = await findTopicByName(deps.documents, name);
  if (topic === null) throw new AppError('not_found', 'Topic not found');
  await deps.documents.commit(audit({ action: 'topic.held_messages_read', subject: topic, details: {} }));
  return { topic, pages: pagesOf(deps.messages, topic.id, now) };
}

async function* pagesOf(
  messages: Pick<MessageRetention, 'held'>,
  topicId: string,
  time: number,
): AsyncGenerator<StoredMessage[], void> {
  for (let after = -1; ;) {
    const page = await messages.held(topicId, { after, time, limit: pageSize });
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    after = page.at(-1)!.offset;
  }
}
