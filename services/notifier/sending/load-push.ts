import type { StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { topics } from '@tocsin/shared/collections/topics.ts';
import type { PushDeps } from './push-deps.ts';

/** The current state of a message to push. */
export interface Push {
  readonly message: StoredMessage;
  readonly topic: Topic;
  /** Start of the reads: all data read for the push, including tokens, is at least as new. */
  readonly readAt: number;
}

/** The record can arrive before the document, for as long as the store is down. */
const waitForMessageMs = 60 * 60_000;
const waitPauseMsMax = 5_000;

/**
 * Returns the message and its topic, or why it must not be pushed: deleted, expired, or its topic was removed.
 * Throws RetryLater while the message is not stored yet, up to an hour after its publish if the time is known.
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
