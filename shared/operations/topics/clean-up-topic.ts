import type { Documents } from '../../ports/documents.ts';
import type { RetentionDays } from '../../domain/accounts/tiers.ts';
import { eraseTopic, type EraseTopicDeps } from './erase-topic.ts';
import { pruneSubscriptions } from './prune-subscriptions.ts';
import { retainMessages } from './retain-messages.ts';
import {
  topicCleanups,
  type ErasureReport,
  type ErasureRun,
  type TopicCleanup,
} from '../../collections/topic-cleanups.ts';

/** Prevents a topic that toggles its visibility from occupying a worker. */
const cleanupsMax = 100;

/**
 * Cleans up after a topic was deleted, became private or changed its retention, in at most `batchesMax` batches of
 * 1,000. Idempotent and safe to run concurrently; resumes after a crash. An erasure or change of retention stays
 * pending until the first complete run that is `lateWritesMs` after the request. Throws `unavailable`.
 */
export async function cleanUpTopic(
  deps: EraseTopicDeps,
  topicId: string,
  at: ErasureRun & { readonly retentionDays: RetentionDays },
): Promise<ErasureReport> {
  const cleanups = await deps.documents.find(topicCleanups, {
    index: 'byTopic',
    equals: { topicId },
    limit: cleanupsMax,
  });
  let removed = 0;
  let keptObjects = 0;
  for (const cleanup of cleanups) {
    const step = await runCleanup(deps, cleanup, at);
    removed += step.removed;
    keptObjects += step.keptObjects;
    if (step.hasMore) return { removed, keptObjects, hasMore: true };
    if (isSettled(cleanup, at)) await deps.documents.remove(topicCleanups, cleanup.id);
  }
  return { removed, keptObjects, hasMore: false };
}

async function runCleanup(
  deps: EraseTopicDeps,
  cleanup: TopicCleanup,
  at: ErasureRun & { readonly retentionDays: RetentionDays },
): Promise<ErasureReport> {
  switch (cleanup.kind) {
    case 'erase':
      return eraseTopic(deps, cleanup.topicId, at);
    case 'prune':
      return { ...(await pruneSubscriptions(deps.documents, cleanup.topicId, at.batchesMax)), keptObjects: 0 };
    case 'retain':
      return {
        ...(await retainMessages(deps, cleanup, { ...at, hasSettled: isSettled(cleanup, at) })),
        keptObjects: 0,
      };
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
