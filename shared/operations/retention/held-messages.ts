import type { Audit } from '../../collections/audit-log.ts';
import { findTopicByName } from '../../collections/topics.ts';
import { AppError } from '../../domain/errors.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import type { Documents } from '../../ports/documents.ts';
import type { MessageRetention } from '../../ports/messages/message-retention.ts';
import { toMessageJson } from '../../wire/message.ts';

/** Messages per read. */
const pageSize = 500;

export interface HeldMessages {
  readonly topic: Topic;
  /** The messages by offset, each as one line of JSON without a line break, read page by page. */
  readonly pages: AsyncIterable<readonly string[]>;
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
  return { topic, pages: linesOf(deps.messages, topic, now) };
}

async function* linesOf(
  messages: Pick<MessageRetention, 'held'>,
  { id, name }: Topic,
  time: number,
): AsyncGenerator<readonly string[], void> {
  for (let after = -1; ;) {
    const page = await messages.held(id, { after, time, limit: pageSize });
    if (page.length > 0) yield page.map((message) => JSON.stringify(toMessageJson(message, name, 'manager')));
    if (page.length < pageSize) return;
    after = page.at(-1)!.offset;
  }
}
