import type { PageName } from '@tocsin/shared/domain/escalation/escalation-state.ts';
import { hasEscalation, type StoredMessage } from '@tocsin/shared/domain/messages/message.ts';
import type { Topic } from '@tocsin/shared/domain/topics/topic.ts';
import { RetryLater } from '@tocsin/shared/ports/job-queue.ts';
import { escalations } from '@tocsin/shared/collections/escalation/escalations.ts';
import type { PushDeps } from './push-deps.ts';

/** The current state of a message to push. */
export interface Push {
  readonly message: StoredMessage;
  readonly topic: Topic;
  /** The page of an escalation; undefined for the first push of the message. */
  readonly page: PageName | undefined;
  /** The key that signs links to acknowledge the message; null if its pushes have none. */
  readonly ackKey: string | null;
  /** Start of the reads: all data read for the push, including tokens, is at least as new. */
  readonly readAt: number;
}

/** The record can arrive before the document, for as long as the store is down. */
const waitForMessageMs = 60 * 60_000;
const waitPauseMsMax = 5_000;

export interface PushIds {
  readonly messageId: string;
  readonly topicId: string;
  readonly publishedAt?: number;
  readonly page?: PageName | undefined;
  /** Whether a later repeat of the escalation replaces this push. */
  readonly isReplaceable: boolean;
}

/**
 * Returns the message and its topic, or why it must not be pushed: deleted, expired, acknowledged, replaced by a later
 * repeat of its escalation, or its topic was removed. Throws RetryLater while the message is not stored yet, up to an
 * hour after its publish if the time is known.
 */
export async function loadPush(
  deps: Pick<PushDeps, 'engine' | 'reads' | 'clock'>,
  ids: PushIds,
): Promise<Push | { readonly over: string }> {
  const readAt = deps.clock();
  const message = await deps.reads.message(ids.messageId);
  if (message === undefined) return waitForMessage(deps.clock() - (ids.publishedAt ?? 0));
  if (message.isDeleted) return { over: 'message deleted' };
  if (message.expiresAt <= deps.clock()) return { over: 'message expired' };
  const topic = await deps.reads.topic(ids.topicId);
  if (topic === undefined) return { over: 'topic deleted' };
  const escalation = await findEscalation(deps, message, ids);
  if ('over' in escalation) return escalation;
  return { message, topic, page: ids.page, readAt, ...escalation };
}

/** Messages without an escalation cost no read. */
async function findEscalation(
  { engine: { documents }, clock }: Pick<PushDeps, 'engine' | 'clock'>,
  message: StoredMessage,
  { page, isReplaceable }: PushIds,
): Promise<{ readonly ackKey: string | null } | { readonly over: string }> {
  if (message.acknowledgement !== null) return { over: 'message acknowledged' };
  if (!hasEscalation(message) && page === undefined) return { ackKey: null };
  // Read from the documents, because the acknowledgement may not be in the message yet.
  const escalation = await documents.get(escalations, message.id);
  if (escalation === null) return page === undefined ? { ackKey: null } : { over: 'escalation ended' };
  const { acknowledgement, isOpen, state, ackKey } = escalation;
  if (acknowledgement !== null) return { over: 'message acknowledged' };
  if (page !== undefined && (page.round !== state.round || !isOpen)) return { over: 'escalation ended' };
  // The change that required an acknowledgement, or that ended that, is not stored yet.
  if (page !== undefined && !message.requiresAck) return waitForMessage(clock() - state.startedAt);
  const replacedBy = isReplaceable && page?.kind !== 'step' && state.repeats > (page?.number ?? 0);
  return replacedBy ? { over: `replaced by repeat ${state.repeats}` } : { ackKey };
}

function waitForMessage(ageMs: number): { over: string } {
  if (ageMs > waitForMessageMs) return { over: 'message gone' };
  throw new RetryLater(Math.min(Math.max(ageMs / 2, 50), waitPauseMsMax), 'the message is not stored yet');
}
