import { cleanUpTopic, topicsToCleanUp } from '@tocsin/shared/operations/topics/clean-up-topic.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from '../sweep/retention-deps.ts';
import { sweepEach } from '../sweep/sweep-each.ts';

/** Topics per run, oldest first. */
const topicsMax = 200;
const batchesMax = 10;

/** Cleans up topics whose job was lost or ran before late writes arrived. */
export async function cleanUpTopics(deps: RetentionDeps, limit: SweepLimit): Promise<SweepReport> {
  return sweepEach(deps, limit, {
    ids: await topicsToCleanUp(deps.engine.documents, topicsMax),
    idsMax: topicsMax,
    sweepOne: (topicId) =>
      cleanUpTopic(deps.engine, topicId, {
        now: deps.clock(),
        batchesMax,
        lateWritesMs: deps.lateWritesMs,
        retentionDays: deps.retentionDays,
      }),
    onFailure: (error, topicId) => deps.log.error({ err: error, topicId }, 'topic clean-up failed'),
  });
}
