import { cleanUpTopic, topicsToCleanUp } from '@tocsin/shared/stores/clean-up-topic.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from './retention-deps.ts';

/** Topics looked at in a run; those that wait longest come first. */
const topicsMax = 200;
const batchesMax = 10;

/** Cleans up behind topics whose own job never came, or came before everything of them had. */
export async function cleanUpTopics(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  const topicIds = await topicsToCleanUp(deps.engine.documents, topicsMax);
  let removed = 0;
  let hasMore = topicIds.length === topicsMax;
  for (const topicId of topicIds) {
    if (isOver(deps, limit)) return { removed, hasMore: true };
    try {
      const report = await cleanUpTopic(deps.engine, topicId, { now: deps.clock(), batchesMax });
      removed += report.removed;
      hasMore ||= report.hasMore;
    } catch (error) {
      deps.log.error({ err: error, topicId }, 'a topic could not be cleaned up'); // and must not keep the others from it
    }
  }
  return { removed, hasMore };
}
