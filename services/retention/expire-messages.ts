import { heldTopicIds } from './held-topic-ids.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

/** Harm prevented: one write of the store that everything else waits for. */
const batchSize = 2_000;

/**
 * Removes expired messages in batches, the longest expired first, and none of a topic under legal hold; the holds are
 * looked up for each batch. A run that dies leaves nothing behind that the next one would not find.
 */
export async function expireMessages(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const { messages, documents } = deps.engine;
  let removed = 0;
  while (!isOver(deps, limit)) {
    const ofTopics = await messages.removeExpired(deps.clock(), batchSize, await heldTopicIds(documents));
    if (ofTopics.size === 0) return { removed, hasMore: false };
    for (const { messages: count } of ofTopics.values()) removed += count;
  }
  return { removed, hasMore: true };
}
