import type { Subscription } from '../../domain/push/subscription.ts';
import type { Topic } from '../../domain/topics/topic.ts';
import { write, type Documents } from '../../ports/documents.ts';
import { retryStale } from '../../documents/retry-stale.ts';
import type { BatchReport } from '../../documents/run-batches.ts';
import { subscriptions } from '../../collections/subscriptions-collection.ts';
import { findMembers } from '../../collections/teams.ts';
import { topics } from '../../collections/topics.ts';

/** Subscriptions per batch. */
const batchSize = 500;

/**
 * Removes subscriptions of users who may not read the private topic, and decrements its count, in at most
 * `batchesMax` batches. Ignores a public or removed topic.
 */
export async function pruneSubscriptions(
  documents: Documents,
  topicId: string,
  batchesMax: number,
): Promise<BatchReport> {
  let removed = 0;
  let kept = 0;
  for (let batch = 0; batch < batchesMax; batch++) {
    const step = await retryStale(() => pruneBatch(documents, topicId, kept));
    removed += step.removed;
    kept += step.kept;
    if (step.removed + step.kept < batchSize) return { removed, hasMore: false };
  }
  return { removed, hasMore: true };
}

async function pruneBatch(
  documents: Documents,
  topicId: string,
  offset: number,
): Promise<{ removed: number; kept: number }> {
  const topic = await documents.get(topics, topicId);
  if (topic === null || topic.accessLevel === 'public') return { removed: 0, kept: 0 };
  const found = await documents.find(subscriptions, {
    index: 'byTopic',
    equals: { topicId },
    limit: batchSize,
    offset,
  });
  const readers = await readersOf(documents, topic);
  const lost = found.filter(({ userId }) => !readers.has(userId));
  if (lost.length > 0) {
    await documents.commit([
      write.require(topics, topic),
      ...lost.map((subscription: Subscription) => write.remove(subscriptions, subscription.id, subscription.version)),
      write.increment(topics, topicId, { subscriberCount: -lost.length }),
    ]);
  }
  return { removed: lost.length, kept: found.length - lost.length };
}

/** Returns the IDs of users who may read the private topic. */
async function readersOf(documents: Documents, topic: Topic): Promise<Set<string>> {
  if (topic.teamId === null) return new Set([topic.ownerId]);
  const members = await findMembers(documents, topic.teamId);
  return new Set([topic.ownerId, ...members.map(({ userId }) => userId)]);
}
