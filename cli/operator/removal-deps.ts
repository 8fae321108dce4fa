import { cleanUpTopicJobs, retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { NewJob } from '@tocsin/shared/ports/job-queue.ts';
import { auditBy, bySystem } from '@tocsin/shared/collections/audit-log.ts';
import type { RemoveTeamDeps } from '@tocsin/shared/operations/teams/remove-team.ts';
import { lateWritesMsOf } from '@tocsin/shared/collections/topic-cleanups.ts';
import { tellNodes } from './operator-store.ts';

const makeId = idSource(systemClock);

/** What removals work with here: the nodes are told of each step, and a running worker cleans up. */
export function removalDeps(store: OperatorStore, config: Config): RemoveTeamDeps {
  return {
    documents: store.documents,
    makeId,
    clock: systemClock,
    audit: auditBy({ makeId, clock: systemClock }, bySystem),
    async onStep({ changes, cleanups }) {
      if (changes.length > 0) await tellNodes(store, ...changes);
      if (cleanups.length > 0)
        await haveDone(store, cleanUpTopicJobs(cleanups, { makeId, lateWritesMs: lateWritesMsOf(config) }));
    },
  };
}

/** Enqueues clean-up jobs. If that fails, a later sweep does the work. */
export async function haveDone(store: OperatorStore, jobs: readonly NewJob[]): Promise<void> {
  try {
    await (await store.openJobQueue()).add(retentionQueue, jobs);
  } catch {
    process.stderr.write('What was left behind could not be queued: the next sweep removes it.\n');
  }
}
