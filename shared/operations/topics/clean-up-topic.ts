import type { MessageReads } from '../../ports/messages/message-reads.ts';
import type { MessageRetention } from '../../ports/messages/message-retention.ts';
import type { Documents } from '../../ports/documents.ts';
import type { RetentionDays } from '../../domain/accounts/tiers.ts';
import { eraseTopic } from './erase-topic.ts';
import { pruneSubscriptions } from './prune-subscriptions.ts';
import { retainMessages } from './retain-messages.ts';
import type { BatchReport } from '../../documents/run-batches.ts';
import { topicCleanups, type ErasureRun, type TopicCleanup } from '../../collections/topic-cleanups.ts';

/** Prevents a topic that toggles its visibility from occupying a worker. */
const cleanupsMax = 100;

/**
 * Cleans up after a topic was deleted, became private or changed its retention, in at most `batchesMax` batches of
 * 1,000. Idempotent and safe to run concurrently; resumes after a crash. An erasure or change of retention stays
 * pending until the first complete run that is `lateWritesMs` after the request. Throws `unavailable`.
 */
export async function cleanUpTopic(
  deps: { documents: Documents; messages: MessageRetention & Pick<MessageReads, 'lastOffsets'> },
  topicId: string,
  at: ErasureRun & { readonly retentionDays: RetentionDays },
): Promise<BatchReport> {
  const cleanups = await deps.documents.find(topicCleanups, {
    index: 'byTopic',
    equals: { topicId },
    limit: cleanupsMax,
  });
  let removed = 0;
  for (const cleanup of cleanups) {
    const step = await runCleanup(deps, cleanup, at);
    removed += step.removed;
    if (step.hasMore) return { removed, hasMore: true };
    if (isSettled(cleanup, at)) await deps.documents.remove(topicCleanups, cleanup.id);
  }
  return { removed, hasMore: false };
}

function runCleanup(
  deps: { documents: Documents; messages: MessageRetention & Pick<MessageReads, 'lastOffsets'> },
  cleanup: TopicCleanup,
  at: ErasureRun & { readonly retentionDays: RetentionDays },
): Promise<BatchReport> {
  switch (cleanup.kind) {
    case 'erase':
      return eraseTopic(deps, cleanup.topicId, at);
    case 'prune':
      return pruneSubscriptions(deps.documents, cleanup.topicId, at.batchesMax);
    case 'retain':
      return retainMessages(deps, cleanup, { ...at, hasSettled: isSettled(cleanup, at) });
  }
}

function isSettled(cleanup: TopicCleanup, { now, lateWritesMs: lateWritesMs }: ErasureRun): boolean {
  return cleanup.kind === 'prune' || cleanup.requestedAt + lateWritesMs <= now;
}

/** Returns topics with pending clean-ups, oldest first, for the sweep that covers lost jobs. */
export async function topicsToCleanUp(documents: Documents, limit: number): Promise<string[]> {
  const found = await documents.find(topicCleanups, { index: 'byRequest', equals: {}, limit });
  return [...new Set(found.map((cleanup) => cleanup.topicId))];
}
