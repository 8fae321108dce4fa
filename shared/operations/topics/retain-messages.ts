import type { MessageRetention } from '../../ports/messages/message-retention.ts';
import { lifetimeMsOf, tierInForce, type RetentionDays } from '../../domain/accounts/tiers.ts';
import { StaleVersion, type Documents } from '../../ports/documents.ts';
import type { BatchReport } from '../../documents/run-batches.ts';
import { topicCleanups, type TopicCleanup } from '../../collections/topic-cleanups.ts';
import { topics } from '../../collections/topics.ts';
import { users } from '../../collections/users.ts';

/** Messages per write, so that publishes do not wait for it. */
const batchSize = 200;

interface RetainDeps {
  readonly documents: Documents;
  readonly messages: Pick<MessageRetention, 'changeLifetime'>;
}

/** The maximum number of batches per run. */
interface RetainRun {
  readonly now: number;
  /** Whether writes that were in flight during the change have ended. */
  readonly hasSettled: boolean;
  readonly batchesMax: number;
  readonly retentionDays: RetentionDays;
}

/**
 * Sets the expiry of a topic's messages, counted from the publish, according to the topic's current `retentionDays` and
 * its owner's current tier. Without a topic setting, only extends lifetimes. Expired messages stay expired. Resumes
 * where the last run of this clean-up ended. Starts again once late writes have ended, because a run with a previous
 * setting may have changed messages that this run had already processed. Idempotent. Ignores a removed topic. Throws
 * `unavailable`.
 */
export async function retainMessages(
  { documents, messages }: RetainDeps,
  given: TopicCleanup,
  at: RetainRun,
): Promise<BatchReport> {
  const cleanup = at.hasSettled && given.isSettling !== true ? await restart(documents, given) : given;
  if (cleanup === null) return { removed: 0, hasMore: true };
  let after = cleanup.doneUpTo ?? -1;
  let hasMore = true;
  for (let batch = 0; hasMore && batch < at.batchesMax; batch += 1) {
    // Reads the setting for each batch: this run must not undo a later change, which has its own run.
    const lifetime = await lifetimeNow(documents, cleanup.topicId, at);
    if (lifetime === null) return { removed: 0, hasMore: false };
    const last = await messages.changeLifetime(cleanup.topicId, { ...lifetime, after, limit: batchSize, now: at.now });
    after = last ?? after;
    hasMore = last !== null;
  }
  await saveProgress(documents, cleanup, after);
  return { removed: 0, hasMore };
}

/** Returns the current setting of the topic; null for a removed topic. */
async function lifetimeNow(
  documents: Documents,
  topicId: string,
  { now, retentionDays }: RetainRun,
): Promise<{ lifetimeMs: number; onlyLonger: boolean } | null> {
  const topic = await documents.get(topics, topicId);
  const owner = topic === null ? null : await documents.get(users, topic.ownerId);
  if (topic === null || owner === null) return null;
  return {
    lifetimeMs: lifetimeMsOf(topic, retentionDays[tierInForce(owner, now)]),
    onlyLonger: topic.retentionDays === null,
  };
}

/** Returns null if another run changed the clean-up concurrently. */
async function restart(documents: Documents, cleanup: TopicCleanup): Promise<TopicCleanup | null> {
  try {
    return await documents.update(topicCleanups, cleanup, { isSettling: true, doneUpTo: null });
  } catch (error) {
    if (error instanceof StaleVersion) return null;
    throw error;
  }
}

/** Stores the progress, unless another run has advanced further or finished. */
async function saveProgress(documents: Documents, cleanup: TopicCleanup, doneUpTo: number): Promise<void> {
  if (doneUpTo <= (cleanup.doneUpTo ?? -1)) return;
  await documents.update(topicCleanups, cleanup, { doneUpTo }).catch((error: unknown) => {
    if (!(error instanceof StaleVersion)) throw error;
  });
}
