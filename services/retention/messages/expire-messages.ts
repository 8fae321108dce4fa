import { noneArchived, type RetentionRun, type RunRequest } from '@tocsin/shared/domain/retention/retention-run.ts';
import { StaleVersion } from '@tocsin/shared/ports/documents.ts';
import {
  listRuns,
  readRetentionState,
  retentionRuns,
  retentionStates,
} from '@tocsin/shared/collections/retention-runs.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { clocksDisagree } from '../sweep/clocks-disagree.ts';
import { archiveExpired, ArchiveFailed } from './archive-expired.ts';
import { holdLease } from './hold-lease.ts';
import { restAfterBatch } from '../sweep/rest-after-batch.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from '../sweep/retention-deps.ts';
import { removeExpired } from './removal-step.ts';
import { takeRun } from './take-run.ts';
import { tallyRun } from './tally-run.ts';

const nothing: SweepReport = { removed: 0, hasMore: false };

/**
 * Removes expired messages in a run with a plan: those that expired at or before its cut-off, in batches, oldest expiry
 * first, except in topics under legal hold and what protection keeps for consumers. A run that exceeds its time is
 * continued by the same job; that of a dead worker by the next slot or by its job on another worker. Its report lists
 * the removed messages. Nothing is removed during a pause, or while a large plan waits for confirmation. With an
 * archive, messages are archived first; if that fails, the run ends, and the next one continues.
 */
export async function expireMessages(
  deps: RetentionDeps,
  limit: SweepLimit,
  request?: RunRequest,
): Promise<SweepReport> {
  const state = await readRetentionState(deps.engine.documents);
  deps.metrics.paused.set(state.pausedAt === null ? 0 : 1);
  if (state.pausedAt !== null) return nothing;
  const run = await takeRun(deps, state, request);
  return run === null ? nothing : runBatches(deps, limit, run);
}

async function runBatches(deps: RetentionDeps, limit: SweepLimit, run: RetentionRun): Promise<SweepReport> {
  const { archive } = deps;
  const tally = tallyRun(deps, run);
  const lease = holdLease(deps, run);
  const steps = archive === null ? removeExpired(deps, run) : archiveExpired(deps, { run, limit, archive });
  let removed = 0;
  let hasConfirmed = false;
  try {
    // Archived messages are removed beyond the time limit: the rest of the run would archive them again.
    while (!(hasConfirmed ? limit.closing.aborted : isOver(deps, limit)) && !(await isToStop(deps))) {
      const beganAt = performance.now();
      const next = await lease.during(() => steps.next());
      if (next.done === true) {
        await finishRun(deps, lease.run(), 'done');
        return { removed, hasMore: false };
      }
      const { gone, archived } = next.value;
      hasConfirmed = next.value.hasConfirmed;
      for (const volume of gone.values()) removed += volume.messages;
      await lease.update(await tally.add(gone, archived));
      await restAfterBatch(deps, limit, beganAt);
    }
    await lease.release();
  } catch (error) {
    if (error instanceof ArchiveFailed) {
      await endWithFailure(deps, lease.run(), error);
      return { removed, hasMore: false };
    }
    if (error === limit.closing.reason) await lease.release();
    else if (!(error instanceof StaleVersion)) throw error;
    else deps.log.warn({ runId: run.id }, 'another worker took over the run');
  } finally {
    await steps.return();
  }
  return { removed, hasMore: true };
}

/** The messages stay until the run of the next slot. A further run without effect leaves no report. */
async function endWithFailure(deps: RetentionDeps, run: RetentionRun, { cause }: ArchiveFailed): Promise<void> {
  deps.metrics.archiveFailures.inc();
  deps.log.error({ err: cause, runId: run.id }, 'the archive failed, messages stay until the next run archives them');
  const [, previous] = await listRuns(deps.engine.documents, 2);
  const hadEffect = run.messages > 0 || (run.archived ?? noneArchived).messages > 0;
  if (hadEffect || run.startedBy !== 'schedule' || previous?.outcome !== 'archive_failed')
    return finishRun(deps, run, 'archive_failed');
  await deps.engine.documents.remove(retentionRuns, run.id);
  await leaveRun(deps, run, 'archive_failed');
}

async function isToStop(deps: RetentionDeps): Promise<boolean> {
  const { pausedAt } = await readRetentionState(deps.engine.documents);
  return pausedAt !== null || clocksDisagree(deps);
}

type Ended = 'done' | 'archive_failed';

async function finishRun(deps: RetentionDeps, run: RetentionRun, outcome: Ended): Promise<void> {
  await deps.engine.documents.update(retentionRuns, run, { outcome, endedAt: deps.clock(), leasedUntil: 0 });
  await leaveRun(deps, run, outcome);
}

/** Lets the next slot begin a run. */
async function leaveRun({ engine: { documents } }: RetentionDeps, run: RetentionRun, outcome: Ended): Promise<void> {
  await retryStale(async () => {
    const state = await readRetentionState(documents);
    // A failed run leaves the confirmation to the next one.
    const isConfirmed = outcome === 'done' && state.confirmedUpTo !== null && state.confirmedUpTo <= run.upTo;
    // Another worker may have noticed the end and begun the next run meanwhile.
    const set = {
      ...(state.runId === run.id ? { runId: null } : {}),
      ...(isConfirmed ? { confirmedUpTo: null } : {}),
    };
    if (Object.keys(set).length > 0) await documents.update(retentionStates, state, set);
  });
}
