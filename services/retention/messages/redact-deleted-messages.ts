import { deletedContentMs } from '@tocsin/shared/domain/messages/message-filter.ts';
import { heldTopicIds } from './held-topic-ids.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from '../sweep/retention-deps.ts';

const batchSize = 2_000;

/** Redacts messages that were deleted 30 days ago, except in topics under legal hold. */
export async function redactDeletedMessages(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const { messages, documents } = deps.engine;
  let removed = 0;
  while (!isOver(deps, limit)) {
    const count = await messages.redactDeleted(
      deps.clock() - deletedContentMs,
      batchSize,
      await heldTopicIds(documents),
    );
    removed += count;
    if (count < batchSize) return { removed, hasMore: false };
  }
  return { removed, hasMore: true };
}
