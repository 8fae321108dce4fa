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
  /** Whether writes that were in flight at the time of the change have ended. */
  readonly hasSettled: boolean;
  readonly batchesMax: number;
  readonly retentionDays: RetentionDays;
}

/**
 * Sets the expiry of a topic's messages according to its current `retentionDays` and its owner's current tier, counted
 * from the publish. Without a topic setting, it extends lifetimes to what the tier grants and shortens none. Expired
 * messages stay expired. Resumes where the last run of this clean-up ended, and starts over once late writes have
 * arrived, because a run with a previous setting may have written before its offset. Idempotent. Ignores a removed
 * topic. Throws `unavailable`.
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
    // Read each time: a later change has its own run, which this run must not undo.
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

/** Null if another run changed it meanwhile. */
async function restart(documents: Documents, cleanup: TopicCleanup): Promise<TopicCleanup | null> {
  try {
    return await documents.update(topicCleanups, cleanup, { isSettling: true, doneUpTo: null });
  } catch (error) {
    if (error instanceof StaleVersion) return null;
    throw error;
  }
}

/** Another run may have advanced further or finished; its progress counts. */
async function saveProgress(documents: Documents, cleanup: TopicCleanup, doneUpTo: number): Promise<void> {
  if (doneUpTo <= (cleanup.doneUpTo ?? -1)) return;
  await documents.update(topicCleanups, cleanup, { doneUpTo }).catch((error: unknown) => {
    if (!(error instanceof StaleVersion)) throw error;
  });
}
