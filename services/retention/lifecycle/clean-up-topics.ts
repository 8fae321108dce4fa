import { cleanUpTopic, topicsToCleanUp } from '@tocsin/shared/operations/topics/clean-up-topic.ts';
import type { ErasureReport } from '@tocsin/shared/collections/topic-cleanups.ts';
import type { RetentionDeps, SweepLimit, SweepReport } from '../sweep/retention-deps.ts';
import { warnOfKept } from './warn-of-kept.ts';
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
      cleanUp(deps, topicId, {
        now: deps.clock(),
        batchesMax,
        lateWritesMs: deps.lateWritesMs,
        retentionDays: deps.retentionDays,
      }),
    onFailure: (error, topicId) => deps.log.error({ err: error, topicId }, 'topic clean-up failed'),
  });
}

/** Cleans up after a topic, also in the archive if it was deleted, and logs what stays. */
export async function cleanUp(
  deps: RetentionDeps,
  topicId: string,
  at: Parameters<typeof cleanUpTopic>[2],
): Promise<ErasureReport> {
  const report = await cleanUpTopic({ ...deps.engine, archive: deps.archive }, topicId, at);
  warnOfKept(deps, report, { topicId });
  return report;
}
