import { lifetimeMsOf, tierInForce, type RetentionDays } from '../../domain/accounts/tiers.ts';
import { StaleVersion, type Documents } from '../../ports/documents.ts';
import type { Messages } from '../../ports/messages.ts';
import type { BatchReport } from '../../documents/run-batches.ts';
import { topicCleanups, type TopicCleanup } from '../../collections/topic-cleanups.ts';
import { topics } from '../../collections/topics.ts';
import { users } from '../../collections/users.ts';

/** Messages that get their expiry in one write. Harm prevented: publishes that wait for it. */
const batchSize = 200;

interface RetainDeps {
  readonly documents: Documents;
  readonly messages: Pick<Messages, 'changeLifetime'>;
}

/** One run: at most so many batches. */
interface RetainRun {
  readonly now: number;
  /** Whether what was under way when the change was asked for is over by now. */
  readonly hasSettled: boolean;
  readonly batchesMax: number;
  readonly retentionDays: RetentionDays;
}

/**
 * Gives the messages that a topic has the expiry that its `retentionDays` ask for, as they are now: so long after their
 * publish, by the tier that its owner has now. Where they ask for none, what lives less long than the tier grants gets that, and nothing
 * is shortened. What has expired stays expired. Goes on where the last run of this cleanup ended, and begins anew once all has
 * settled: a run by a former setting may have written behind its place. Running it again changes nothing more. Nothing to do for a topic that is gone. Throws `unavailable`.
 */
export async function retainMessages(
  { documents, messages }: RetainDeps,
  given: TopicCleanup,
  at: RetainRun,
): Promise<BatchReport> {
  const cleanup = at.hasSettled && given.isSettling !== true ? await beginAnew(documents, given) : given;
  if (cleanup === null) return { removed: 0, hasMore: true };
  let after = cleanup.doneUpTo ?? -1;
  let hasMore = true;
  for (let batch = 0; hasMore && batch < at.batchesMax; batch += 1) {
    // Each time: what was changed meanwhile has a run of its own, which this one must not undo.
    const lifetime = await lifetimeNow(documents, cleanup.topicId, at);
    if (lifetime === null) return { removed: 0, hasMore: false };
    const last = await messages.changeLifetime(cleanup.topicId, { ...lifetime, after, limit: batchSize, now: at.now });
    after = last ?? after;
    hasMore = last !== null;
  }
  await keepPlace(documents, cleanup, after);
  return { removed: 0, hasMore };
}

/** What the topic asks for at this moment; null for one that is gone. */
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

/** Null when another one has changed it meanwhile. */
async function beginAnew(documents: Documents, cleanup: TopicCleanup): Promise<TopicCleanup | null> {
  try {
    return await documents.update(topicCleanups, cleanup, { isSettling: true, doneUpTo: null });
  } catch (error) {
    if (error instanceof StaleVersion) return null;
    throw error;
  }
}

/** Another one may have come further meanwhile, or to the end: then that counts. */
async function keepPlace(documents: Documents, cleanup: TopicCleanup, doneUpTo: number): Promise<void> {
  if (doneUpTo <= (cleanup.doneUpTo ?? -1)) return;
  await documents.update(topicCleanups, cleanup, { doneUpTo }).catch((error: unknown) => {
    if (!(error instanceof StaleVersion)) throw error;
  });
}
