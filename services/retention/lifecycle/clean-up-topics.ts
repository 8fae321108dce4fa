import { cleanUpTopic, topicsToCleanUp } from '@tocsin/shared/operations/topics/clean-up-topic.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from '../sweep/retention-deps.ts';
import { sweepEach } from '../sweep/sweep-each.ts';

/** Topics looked at in a run; those that wait longest come first. */
const topicsMax = 200;
const batchesMax = 10;

/** Cleans up behind topics whose own job never came, or came before everything of them had. */
export async function cleanUpTopics(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return sweepEach(deps, limit, {
    ids: await topicsToCleanUp(deps.engine.documents, topicsMax),
    idsMax: topicsMax,
    sweepOne: (topicId) =>
      cleanUpTopic(deps.engine, topicId, {
        now: deps.clock(),
        batchesMax,
        settleMs: deps.settleMs,
        retentionDays: deps.retentionDays,
      }),
    onFailure: (error, topicId) => deps.log.error({ err: error, topicId }, 'a topic could not be cleaned up'),
  });
}
