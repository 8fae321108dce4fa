import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { PushDeps } from './push-deps.ts';

/** A message to be pushed, as it stands now. */
export interface Push {
  readonly message: StoredMessage;
  readonly topic: Topic;
  /** When reading began: whatever was read for it, recipients and tokens too, is no older. */
  readonly readAt: number;
}

/** The record can be here before the document is there, by as long as the document store is away. */
const waitForMessageMs = 60 * 60_000;
const waitPauseMsMax = 5_000;

/**
 * The message and its topic, or why it is not to be pushed any more: it was deleted, has expired, or its topic is gone.
 * Throws RetryLater while the message is not stored yet, for up to an hour after its publish where that is known.
 */
export async function loadPush(
  deps: Pick<PushDeps, 'engine' | 'clock'>,
  ids: { messageId: string; topicId: string; publishedAt?: number },
): Promise<Push | { readonly over: string }> {
  const readAt = deps.clock();
  const message = await deps.engine.messages.find(ids.messageId);
  if (message === null) return waitForMessage(deps.clock() - (ids.publishedAt ?? 0));
  if (message.isDeleted) return { over: 'message deleted' };
  if (message.expiresAt <= deps.clock()) return { over: 'message expired' };
  const topic = await deps.engine.documents.get(topics, ids.topicId);
  return topic === null ? { over: 'topic deleted' } : { message, topic, readAt };
}

function waitForMessage(ageMs: number): { over: string } {
  if (ageMs > waitForMessageMs) return { over: 'message gone' };
  throw new RetryLater(Math.min(Math.max(ageMs / 2, 50), waitPauseMsMax), 'the message is not stored yet');
}
