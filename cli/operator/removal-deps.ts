import { cleanUpTopicJobs, retentionQueue } from '@tocsin/shared/domain/retention/retention-job.ts';
import type { OperatorStore } from '@tocsin/shared/open-engine.ts';
import { systemClock } from '@tocsin/shared/platform/clock.ts';
import { idSource } from '@tocsin/shared/platform/ids.ts';
import type { Config } from '@tocsin/shared/platform/load-config.ts';
import type { NewJob } from '@tocsin/shared/ports/job-queue.ts';
import { auditBy, bySystem } from '@tocsin/shared/collections/audit-log.ts';
import type { RemoveTeamDeps } from '@tocsin/shared/operations/teams/remove-team.ts';
import { lateWritesMsOf } from '@tocsin/shared/collections/topic-cleanups.ts';
import { notifyNodes } from './operator-store.ts';

const makeId = idSource(systemClock);

/** Dependencies of removals: notify the nodes of each step, and leave the clean-up to a running worker. */
export function removalDeps(store: OperatorStore, config: Config): RemoveTeamDeps {
  return {
    documents: store.documents,
    makeId,
    clock: systemClock,
    audit: auditBy({ makeId, clock: systemClock }, bySystem),
    async onStep({ changes, cleanups }) {
      if (changes.length > 0) await notifyNodes(store, ...changes);
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
    process.stderr.write('Could not enqueue the clean-up: the next sweep removes the remaining data.\n');
  }
}
