import type { RetentionRun, RunRequest } from '@tocsin/shared/domain/retention/retention-run.ts';
import { StaleVersion } from '@tocsin/shared/ports/documents.ts';
import { readRetentionState, retentionRuns, retentionStates } from '@tocsin/shared/collections/retention-runs.ts';
import { retryStale } from '@tocsin/shared/documents/retry-stale.ts';
import { clocksDisagree } from '../sweep/clocks-disagree.ts';
import { dueMessages } from './due-messages.ts';
import { restAfterBatch } from '../sweep/rest-after-batch.ts';
import { isOver, type RetentionDeps, type SweepLimit, type SweepReport } from '../sweep/retention-deps.ts';
import { runLeaseMs, takeRun } from './take-run.ts';
import { tallyRun } from './tally-run.ts';

/** Limits a write to a few milliseconds, because concurrent publishes wait for it (docs/benchmarks.md). */
const batchSize = 100;
const nothing: SweepReport = { removed: 0, hasMore: false };

/**
 * Removes expired messages in a run with a plan: those that expired at or before its cut-off, in batches, oldest expiry
 * first, except in topics under legal hold and what protection keeps for consumers. A run that exceeds its time is
 * continued by the same job; that of a dead worker by the next slot or by its job on another worker. Its report lists
 * the removed messages. Nothing is removed during a pause, or while a large plan waits for confirmation.
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
  const { documents } = deps.engine;
  const removeDue = await dueMessages(deps, run.upTo);
  const tally = tallyRun(deps, run);
  let removed = 0;
  let at = run;
  try {
    while (!isOver(deps, limit) && !(await isToStop(deps))) {
      const beganAt = performance.now();
      const gone = await removeDue(batchSize);
      if (gone.size === 0) {
        await finishRun(deps, at);
        return { removed, hasMore: false };
      }
      for (const volume of gone.values()) removed += volume.messages;
      at = await documents.update(retentionRuns, at, {
        ...(await tally.add(gone)),
        leasedUntil: deps.clock() + runLeaseMs,
      });
      await restAfterBatch(deps, limit, beganAt);
    }
    await documents.update(retentionRuns, at, { leasedUntil: 0 });
  } catch (error) {
    if (!(error instanceof StaleVersion)) throw error;
    deps.log.warn({ runId: run.id }, 'another worker took over the run');
  }
  return { removed, hasMore: true };
}

async function isToStop(deps: RetentionDeps): Promise<boolean> {
  const { pausedAt } = await readRetentionState(deps.engine.documents);
  return pausedAt !== null || clocksDisagree(deps);
}

/** Everything in its plan was removed. */
async function finishRun({ engine: { documents }, clock }: RetentionDeps, run: RetentionRun): Promise<void> {
  await documents.update(retentionRuns, run, { outcome: 'done', endedAt: clock(), leasedUntil: 0 });
  await retryStale(async () => {
    const state = await readRetentionState(documents);
    const isConfirmed = state.confirmedUpTo !== null && state.confirmedUpTo <= run.upTo;
    // Another worker may have noticed the end and begun the next run meanwhile.
    const set = {
      ...(state.runId === run.id ? { runId: null } : {}),
      ...(isConfirmed ? { confirmedUpTo: null } : {}),
    };
    if (Object.keys(set).length > 0) await documents.update(retentionStates, state, set);
  });
}
